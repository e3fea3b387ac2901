#include "krohn/simulate/check/sha256.h"

#include <doctest/doctest.h>

using namespace krohn;

TEST_CASE("SHA-256 of the standard's examples and of every length around a block") {
  struct Fact {
    std::string bytes;
    const char* digest;
  };
  // FIPS 180-2, appendix B, the empty message, and NIST's SHA256ShortMsg vector of one byte.
  for (const auto& [bytes, digest] :
       {Fact{"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        Fact{"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        Fact{"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
             "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
        Fact{"\xd3", "28969cdfa74a12c82f3bad960b0b000aca2ac329deea5c2328ebc6f2ba9802c1"},
        Fact{std::string(1'000'000, 'a'), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"}})
    CHECK(sha256(bytes) == digest);
}

TEST_CASE("SHA-256 around the length of a block") {
  // sha256sum of so many bytes 'x': the padding takes one block or two.
  struct Fact {
    std::size_t length;
    const char* digest;
  };
  for (const auto& [length, digest] : {Fact{55, "d5e285683cd4efc02d021a5c62014694958901005d6f71e89e0989fac77e4072"},
                                       Fact{56, "04c26261370ee7541549d16dee320c723e3fd14671e66a099afe0a377c16888e"},
                                       Fact{63, "75220b47218278e656f2013bb8f0c455a25eaf01e86c64924e9d48d89776d6f2"},
                                       Fact{64, "7ce100971f64e7001e8fe5a51973ecdfe1ced42befe7ee8d5fd6219506b5393c"},
                                       Fact{65, "9537c5fdf120482f7d58d25e9ed583f52c02b4e304ea814db1633ad565aed7e9"},
                                       Fact{119, "000b48d4edf0fa7bee3c6236ecd2785baa5db4eeb8bb54341b029e0d9fa5fb0c"},
                                       Fact{120, "13f05a0b594787f5ecd315edc96141bd3243203d1b7d4f0836f37308b276ba98"}}) {
    CAPTURE(length);
    CHECK(sha256(std::string(length, 'x')) == digest);
  }
}
