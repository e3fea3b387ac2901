// tests/gpu/trained_shapes.h — models of every family that is trained on a device.
#pragma once

namespace krohn {

/// Every family with every part that its stages treat in another way.
inline constexpr const char* kTrainedShapes[] = {
    "bilinear:hidden=5,inputs=3",
    "bilinear:hidden=6,inputs=4,block=2,bias",
    "bilinear:hidden=8,inputs=3,rotations",
    "bilinear:hidden=5,inputs=4,rank=3,input-bias",
    "bilinear:hidden=4,inputs=3,diagonal,bias,input-bias",
    "bilinear:hidden=6,inputs=3,frozen",
    "deltaproduct:width=8,heads=1,mlp=0",
    "deltaproduct:width=6,heads=2,keys=5,values=3,reflections=2,signed,mlp=0",
    "deltaproduct:width=8,heads=2,keys=3,values=6,plain,mlp=7",
    "deltaproduct:width=8,heads=2,reflections=3,signed,conv=3,layers=2,mlp=5",
    "diagonal:width=6,channels=5,states=3,conv=0",
    "diagonal:width=6,channels=37,states=2,conv=4,signed,mlp=5",
    "diagonal:width=5,channels=6,states=3,conv=0,fixed",
    "diagonal:width=6,channels=7,states=2,conv=2,fixed,signed,layers=2",
    "fan:blocks=2,size=3",
    "fan:blocks=3,size=2,generator=5,norm=1",
    "fan:blocks=2,size=3,layers=2,mlp=5,norm=2",
    "dense:size=5",
    "dense:size=33"};

}  // namespace krohn
