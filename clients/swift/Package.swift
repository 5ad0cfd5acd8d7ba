// swift-tools-version: 5.9
import PackageDescription

// The package of an app that installs bundles. On Apple's platforms it needs SQLite, zlib and CryptoKit of the system;
// on Linux, where it is tested, libcrypto replaces CryptoKit.
let package = Package(
  name: "AttacheKit",
  platforms: [.iOS(.v15), .macOS(.v12)],
  products: [.library(name: "AttacheKit", targets: ["AttacheKit"])],
  targets: [
    .systemLibrary(name: "CAttacheZlib", providers: [.apt(["zlib1g-dev"])]),
    .systemLibrary(name: "CAttacheSQLite", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CAttacheCrypto", providers: [.apt(["libssl-dev"])]),
    .target(
      name: "AttacheKit",
      dependencies: [
        "CAttacheZlib",
        .target(name: "CAttacheSQLite", condition: .when(platforms: [.linux])),
        .target(name: "CAttacheCrypto", condition: .when(platforms: [.linux])),
      ]),
    .executableTarget(name: "Phone", dependencies: ["AttacheKit"], path: "Example"),
    .testTarget(name: "AttacheKitTests", dependencies: ["AttacheKit"]),
  ]
)
