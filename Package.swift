// swift-tools-version: 6.2
import PackageDescription

// The target list is the architecture: a ladder in which a target imports only what its line names.
// docs/dev/architecture.md describes each target. TidyTests reads this table, and every import.

let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
]

// The functions of a sync run where their caller does: on the thread that owns the store.
let features: [String: [SwiftSetting]] = [
  "MobileSync": [.enableUpcomingFeature("NonisolatedNonsendingByDefault")],
  "Snapshots": [.enableUpcomingFeature("NonisolatedNonsendingByDefault")],
]

// The program embeds the files of a module, so that it needs no other file.
let embedded: [String: [Resource]] = [
  "Rehearsal": [.embedInCode("Pipeline")], "Reports": [.embedInCode("HTML/Page")],
]

// Every test uses these small modules. Optimising them in a debug build too halves the time of the tests.
let hot: Set = ["JSON", "CSV", "SQLite"]

// What a command reads and prints is executed once, and a shipped program has at most 25 MB.
let cold: Set = ["attache", "Arguments"]

func library(_ name: String, _ dependencies: String...) -> Target {
  .target(
    name: name, dependencies: dependencies.map { .byName(name: $0) },
    resources: embedded[name],
    swiftSettings: settings + features[name, default: []]
      + (hot.contains(name) ? [.unsafeFlags(["-O"], .when(configuration: .debug))] : [])
      + (cold.contains(name) ? [.unsafeFlags(["-Osize"], .when(configuration: .release))] : []))
}

// A release build links a program as it ships, with Swift's runtime. A program exports no names to libraries; without
// them, and with packed relocations, it is smaller and starts sooner. Only the link differs, so the tests and the shipped
// program share one compilation.
let shipped: [LinkerSetting] = [
  .unsafeFlags(
    ["-static-stdlib", "-use-ld=lld"]
      + ["--no-export-dynamic", "--icf=safe", "-z", "pack-relative-relocs", "-z", "now"]
      .flatMap { ["-Xlinker", $0] },
    .when(platforms: [.linux], configuration: .release))
]

func program(_ name: String, _ dependencies: String...) -> Target {
  .executableTarget(
    name: name, dependencies: dependencies.map { .byName(name: $0) }, swiftSettings: settings,
    linkerSettings: shipped)
}

func benchmark(_ name: String, _ dependencies: String...) -> Target {
  .executableTarget(
    name: name, dependencies: dependencies.map { .byName(name: $0) }, path: "Benchmarks/" + name,
    swiftSettings: settings, linkerSettings: shipped)
}

func system(_ name: String, _ pkgConfig: String, _ package: String) -> Target {
  .systemLibrary(name: name, pkgConfig: pkgConfig, providers: [.apt([package])])
}

// The tested code is optimised as it ships. The test code is not, and compiles in a fraction of the time: no product
// contains these targets. No target waits for their modules either; emitting a module ahead of the code, as for other
// targets, would type-check all expressions twice.
let judges: [SwiftSetting] =
  settings + [
    .unsafeFlags(["-Onone", "-no-emit-module-separately-wmo"], .when(configuration: .release))
  ]

func tests(_ name: String, _ dependencies: String...) -> Target {
  .testTarget(
    name: name + "Tests",
    dependencies: (["TestSupport"] + dependencies).map { .byName(name: $0) },
    swiftSettings: judges)
}

let package = Package(
  name: "attache",
  products: [
    .executable(name: "attache", targets: ["attache-program"]),
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
    // 1: wrappers without knowledge of Salesforce
    library("System", "CSystem"),
    library("JSON", "System"),
    library("CSV"),
    library("XML"),
    library("SQLite", "CSQLite"),
    library("HTTP", "CCurl", "CMicrohttpd", "System"),
    library("Archive", "CArchive"),
    library("Crypto", "CCrypto"),
    library("Arguments", "System"),
    // 2: the two ends of a sync, and where bundles go
    library("SmartStore", "SQLite", "JSON", "Crypto", "System"),
    library("Salesforce", "HTTP", "JSON", "CSV", "XML", "Crypto", "System"),
    library("ObjectStore", "HTTP", "XML", "Crypto", "System"),
    // 3: the sync, and the ledger of its results
    library("MobileSync", "SmartStore", "Salesforce", "JSON", "System"),
    library("Ledger", "MobileSync", "SmartStore", "SQLite", "JSON", "Crypto", "System"),
    // 4: a snapshot's generations, bundles, and the local org
    library(
      "Snapshots", "MobileSync", "SmartStore", "Salesforce", "SQLite", "Archive", "Crypto", "JSON",
      "System"),
    library(
      "Bundles", "Snapshots", "SmartStore", "SQLite", "Archive", "Crypto", "JSON", "System"),
    library("LocalOrg", "HTTP", "SQLite", "Archive", "JSON", "CSV", "Crypto", "System"),
    // 5: returns and their edits
    library(
      "Returns", "Bundles", "Snapshots", "Ledger", "MobileSync", "SmartStore", "Salesforce",
      "SQLite",
      "Archive", "Crypto", "JSON", "System"),
    library(
      "Reconciliation", "Ledger", "MobileSync", "Salesforce", "SQLite", "JSON", "Crypto", "System"),
    library(
      "Reports", "Ledger", "MobileSync", "Salesforce", "SQLite", "JSON", "CSV", "Crypto", "System"),
    // 6: the pipeline
    library(
      "Pipelines", "Reports", "Reconciliation", "Returns", "Ledger", "Bundles", "Archive",
      "Snapshots",
      "MobileSync",
      "SmartStore",
      "Salesforce", "ObjectStore", "HTTP", "SQLite", "JSON", "CSV", "Crypto", "System"),
    // 7: the review page
    library(
      "Review", "Pipelines", "Reports", "Ledger", "Salesforce", "HTTP", "JSON", "Crypto", "System"),
    // 8: where the pipeline and the local org meet
    library(
      "Rehearsal", "Review", "Pipelines", "LocalOrg", "Reports", "Ledger", "Bundles",
      "Snapshots", "SmartStore", "HTTP", "JSON", "Crypto", "System"),
    // 9: the commands, and the program
    library(
      "attache", "Arguments", "Rehearsal", "Review", "Pipelines", "LocalOrg", "Reports",
      "Returns",
      "Ledger", "Bundles", "Snapshots", "MobileSync", "SmartStore", "Salesforce", "SQLite", "JSON",
      "CSV", "Crypto", "System"),
    program("attache-program", "attache"),
    // tests
    // The kit of iOS apps, which phones in tests use; clients/swift/Package.swift is the package of an app.
    .systemLibrary(name: "CAttacheZlib", path: "clients/swift/Sources/CAttacheZlib"),
    .systemLibrary(name: "CAttacheSQLite", path: "clients/swift/Sources/CAttacheSQLite"),
    .systemLibrary(name: "CAttacheCrypto", path: "clients/swift/Sources/CAttacheCrypto"),
    .target(
      name: "AttacheKit", dependencies: ["CAttacheZlib", "CAttacheSQLite", "CAttacheCrypto"],
      path: "clients/swift/Sources/AttacheKit", swiftSettings: [.swiftLanguageMode(.v5)]),
    .target(
      name: "TestSupport", dependencies: ["JSON", "System"], path: "Tests/TestSupport",
      swiftSettings: judges),
    tests("JSON", "JSON"),
    tests("CSV", "CSV"),
    tests("XML", "XML"),
    tests("System", "JSON", "System"),
    tests("SQLite", "SQLite"),
    tests("HTTP", "HTTP", "Crypto", "System"),
    tests("Archive", "Archive"),
    tests("Crypto", "Crypto", "System"),
    tests("Arguments", "Arguments", "System"),
    tests("SmartStore", "SmartStore", "SQLite", "JSON", "Crypto", "System"),
    tests("Salesforce", "Salesforce", "HTTP", "JSON", "XML", "Crypto", "System"),
    tests("ObjectStore", "ObjectStore", "HTTP", "Crypto", "System"),
    tests(
      "MobileSync", "Snapshots", "MobileSync", "LocalOrg", "SmartStore", "Salesforce", "SQLite",
      "HTTP", "JSON",
      "System"),
    tests("Snapshots", "Snapshots", "SmartStore", "SQLite", "JSON", "System"),
    tests(
      "Bundles", "Returns", "Bundles", "Snapshots", "Ledger", "SmartStore", "SQLite", "Archive",
      "Crypto",
      "JSON", "System"),
    tests(
      "Reconciliation", "Reports", "Reconciliation", "Ledger", "LocalOrg", "MobileSync",
      "Salesforce", "SQLite", "HTTP", "JSON", "System"),
    tests("LocalOrg", "LocalOrg", "HTTP", "JSON", "CSV", "Crypto", "System"),
    tests(
      "Pipelines", "Pipelines", "Review", "Rehearsal", "LocalOrg", "Reports", "Reconciliation",
      "Returns",
      "Ledger",
      "MobileSync", "Bundles", "Snapshots", "SmartStore", "Salesforce", "ObjectStore", "SQLite",
      "HTTP", "JSON",
      "Crypto",
      "System"),
    tests("Rehearsal", "Rehearsal", "Pipelines", "Reports", "System"),
    tests(
      "Histories", "AttacheKit", "Pipelines", "LocalOrg", "Reconciliation", "Bundles", "Snapshots",
      "SmartStore", "SQLite",
      "JSON", "Crypto", "System"),
    tests(
      "Documentation", "attache", "LocalOrg", "SmartStore", "Reconciliation", "JSON", "Arguments",
      "Crypto", "System"),
    tests("Tidy"),
  ]
)

// The benchmarks reach into the package as the tests do, so they are targets of it; only the targets of the Makefile
// that need them set the variable, and no other build compiles them.
if Context.environment["ATTACHE_BENCHMARKS"] != nil {
  package.targets.append(
    benchmark(
      "attache-bench", "Rehearsal", "Pipelines", "LocalOrg", "Bundles", "Snapshots", "MobileSync",
      "SmartStore", "Salesforce", "SQLite", "Crypto", "HTTP", "JSON", "System"))
}
