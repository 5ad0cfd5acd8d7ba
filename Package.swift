// swift-tools-version: 6.2
import PackageDescription

// The target list is the architecture: a ladder in which a target imports only what its line names
// (docs/architecture.md). TidyTests holds the same table and reads every import.

let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
]

func library(_ name: String, _ dependencies: String...) -> Target {
  .target(
    name: name, dependencies: dependencies.map { .byName(name: $0) }, swiftSettings: settings)
}

func program(_ name: String, _ dependencies: String...) -> Target {
  .executableTarget(
    name: name, dependencies: dependencies.map { .byName(name: $0) }, swiftSettings: settings)
}

func system(_ name: String, _ pkgConfig: String, _ package: String) -> Target {
  .systemLibrary(name: name, pkgConfig: pkgConfig, providers: [.apt([package])])
}

func tests(_ name: String, _ dependencies: String...) -> Target {
  .testTarget(
    name: name + "Tests",
    dependencies: (["TestSupport"] + dependencies).map { .byName(name: $0) },
    swiftSettings: settings)
}

let package = Package(
  name: "attache",
  products: [
    .executable(name: "attache", targets: ["attache"]),
    .executable(name: "attache-bench", targets: ["attache-bench"]),
    .library(name: "SmartStore", targets: ["SmartStore"]),
    .library(name: "MobileSync", targets: ["MobileSync"]),
    .library(name: "Salesforce", targets: ["Salesforce"]),
  ],
  targets: [
    // 0: C
    system("CSQLite", "sqlite3", "libsqlite3-dev"),
    system("CCurl", "libcurl", "libcurl4-openssl-dev"),
    system("CArchive", "libarchive", "libarchive-dev"),
    system("CCrypto", "libcrypto", "libssl-dev"),
    system("CMicrohttpd", "libmicrohttpd", "libmicrohttpd-dev"),
    .target(name: "CSystem"),
    // 1: wrappers that know nothing of Salesforce
    library("JSON"),
    library("CSV"),
    library("System", "CSystem"),
    library("SQLite", "CSQLite"),
    library("HTTP", "CCurl", "CMicrohttpd", "System"),
    library("Archive", "CArchive"),
    library("Crypto", "CCrypto"),
    library("Arguments"),
    // 2: the two ends of a sync
    library("SmartStore", "SQLite", "JSON", "Crypto", "System"),
    library("Salesforce", "HTTP", "JSON", "CSV", "Crypto", "System"),
    // 3: the sync, and what carries its result
    library("MobileSync", "SmartStore", "Salesforce", "JSON", "System"),
    library("Bundles", "SmartStore", "SQLite", "Archive", "Crypto", "JSON", "System"),
    // 4: what came back, and an org to try it on
    library(
      "Reconciliation", "MobileSync", "Bundles", "SmartStore", "Salesforce", "SQLite", "JSON",
      "CSV", "Crypto", "System"),
    library("LocalOrg", "HTTP", "SQLite", "JSON", "CSV", "Archive", "Crypto", "System"),
    // 5: the pipeline
    library(
      "Pipelines", "Reconciliation", "MobileSync", "Bundles", "SmartStore", "Salesforce",
      "SQLite", "JSON", "CSV", "Crypto", "System"),
    // 6: where the pipeline and the local org meet
    library(
      "Rehearsal", "Pipelines", "LocalOrg", "Reconciliation", "MobileSync", "Bundles",
      "SmartStore", "Salesforce", "JSON", "Crypto", "System"),
    // 7: programs
    program(
      "attache", "Arguments", "Rehearsal", "Pipelines", "LocalOrg", "Reconciliation",
      "MobileSync", "Bundles", "SmartStore", "Salesforce", "SQLite", "HTTP", "Archive", "JSON",
      "CSV", "Crypto", "System"),
    program(
      "attache-bench", "Rehearsal", "Pipelines", "LocalOrg", "Reconciliation", "MobileSync",
      "Bundles", "SmartStore", "Salesforce", "SQLite", "HTTP", "Archive", "JSON", "CSV",
      "Crypto", "System"),
    // tests
    .target(
      name: "TestSupport", dependencies: ["System"], path: "Tests/TestSupport",
      swiftSettings: settings),
    tests("JSON", "JSON"),
    tests("CSV", "CSV"),
    tests("System", "System"),
    tests("SQLite", "SQLite"),
    tests("HTTP", "HTTP", "Crypto", "System"),
    tests("Archive", "Archive"),
    tests("Crypto", "Crypto"),
    tests("Arguments", "Arguments"),
    tests("SmartStore", "SmartStore", "SQLite", "JSON", "Crypto", "System"),
    tests("Salesforce", "Salesforce", "HTTP", "JSON", "CSV", "Crypto", "System"),
    tests(
      "MobileSync", "MobileSync", "LocalOrg", "SmartStore", "Salesforce", "SQLite", "HTTP", "JSON",
      "Crypto", "System"),
    tests("Bundles", "Bundles", "SmartStore", "SQLite", "Archive", "Crypto", "JSON", "System"),
    tests(
      "Reconciliation", "Reconciliation", "LocalOrg", "MobileSync", "Bundles", "SmartStore",
      "Salesforce", "SQLite", "HTTP", "JSON", "CSV", "Crypto", "System"),
    tests("LocalOrg", "LocalOrg", "HTTP", "SQLite", "JSON", "CSV", "Archive", "Crypto", "System"),
    tests(
      "Pipelines", "Pipelines", "Rehearsal", "LocalOrg", "Reconciliation", "MobileSync", "Bundles",
      "SmartStore", "Salesforce", "SQLite", "HTTP", "JSON", "CSV", "Archive", "Crypto", "System"),
    tests(
      "Rehearsal", "Rehearsal", "Pipelines", "LocalOrg", "Reconciliation", "MobileSync", "Bundles",
      "SmartStore", "Salesforce", "SQLite", "HTTP", "JSON", "Crypto", "System"),
    tests(
      "Histories", "Pipelines", "LocalOrg", "Reconciliation", "Bundles", "SmartStore", "SQLite",
      "JSON", "Crypto", "System"),
    tests(
      "Documentation", "attache", "LocalOrg", "Reconciliation", "JSON", "Arguments", "System",
      "Pipelines"),
    tests("Tidy", "System"),
  ]
)
