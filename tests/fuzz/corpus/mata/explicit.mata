@NFA-explicit
%Alphabet-enum a b "c d"
%States-auto
%Initial p | q
%Final !p & \true
%Epsilon e
p a q # x
q (!a & "c d"|b) \
 p
q e p
