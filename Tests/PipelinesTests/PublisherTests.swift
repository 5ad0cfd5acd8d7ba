import ObjectStore
import Pipelines
import System
import Testing

/// What a publisher writes, whatever the store is.
@Suite struct PublisherTests {
  typealias Kind = PublishScene.Kind

  @Test(arguments: Kind.installed)
  func `a publisher that ends between any two requests is completed by the next one`(
    _ kind: Kind
  ) async throws {
    var requests = 0
    var isWhole = false
    while !isWhole {
      let scene = try PublishScene(kind)
      try scene.write(1)
      try await scene.publish()
      let notes = try Files.read(scene.notes)
      try scene.write(2)
      do {
        try await scene.publish(to: DyingStore(scene.store, after: requests))
        isWhole = true
      } catch let error as ObjectStoreError {
        #expect(error.kind == .unreachable("it ended"))
        // A killed one writes no notes.
        try DurableFile.write(notes, to: scene.notes)
      }
      for generation in try await scene.publishedGenerations() {
        #expect(generation == 2 || generation == 1 && !isWhole)
      }
      try await scene.publish()
      #expect(try await scene.publishedGenerations() == [2, 2])
      #expect(try await scene.publish().isEmpty)
      requests += 1
      try #require(requests < 100)
    }
    // Both users' latest.json, and three files of each, which are asked for and written.
    #expect(requests == 2 * (2 + 3 * 2) + 1)
  }

  @Test(arguments: Kind.installed)
  func `of eight publishers of one user's generations, the latest one is published in the end`(
    _ kind: Kind
  ) async throws {
    let first = try PublishScene(kind)
    let scenes = try (1...8).map { generation in
      let scene = try PublishScene(kind, store: first.store)
      try scene.write(generation)
      return scene
    }
    let failures = try await withThrowingTaskGroup(of: [String].self) { group in
      for scene in scenes.shuffled() {
        group.addTask { try await scene.publish(isWhole: true).failures }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
    #expect(failures.allSatisfy { $0.contains(" is published, and the newest one here is ") })
    #expect(try await first.publishedGenerations() == [8, 8])
  }

  /// What may be wrong with one user, while the other one is published.
  enum Fault: String, Sendable, CaseIterable {
    case laterGeneration = "generation 9 is published, and the newest one here is 2"
    case otherContent = "ios.bundle.zip is already published with other content"
    case missingFile = "ios.bundle.zip cannot be read: "
    case damagedFile = "ios.bundle.zip does not have the digest in bundles.json"
    case largeLatest = "latest.json is larger than the limit"
  }

  @Test(arguments: Kind.installed, Fault.allCases)
  func `a fault of one user's files is reported, and the other user is published`(
    _ kind: Kind, _ fault: Fault
  ) async throws {
    let scene = try PublishScene(kind)
    try scene.write(1)
    try await scene.publish()
    try scene.write(2)
    let latest = scene.key(0, "latest.json")
    func replaceLatest(_ text: String) async throws {
      let version = try #require(try await scene.store.head(latest)).version
      try await scene.store.put(latest, ObjectContent(Array(text.utf8)), if: .matching(version))
    }
    switch fault {
    case .laterGeneration: try await replaceLatest(#"{"generation": 9}"#)
    case .largeLatest: try await replaceLatest(String(repeating: " ", count: 2 << 20))
    case .missingFile: try Files.remove(scene.path(0, "2/ios.bundle.zip"))
    case .damagedFile: try DurableFile.write([1], to: scene.path(0, "2/ios.bundle.zip"))
    case .otherContent:
      let content = ObjectContent(Array("other".utf8))
      try await scene.store.put(scene.key(0, "2/ios.bundle.zip"), content, if: .absent)
    }
    let before = try await scene.store.head(latest)
    for isDryRun in [true, false] {
      let summary = try await scene.publish(isWhole: true, isDryRun: isDryRun)
      #expect(summary.users == [PublishScene.users[1]])
      #expect(summary.failures.count == 1)
      #expect(summary.failures.first?.contains(fault.rawValue) == true, "\(summary.failures)")
      #expect(summary.failures.first?.hasPrefix(PublishScene.users[0] + ": ") == true)
      if fault == .laterGeneration {
        #expect(summary.failures.first?.contains("run attache recover ") == true)
      }
    }
    #expect(try await scene.store.head(latest) == before)
  }

  @Test(arguments: Kind.installed)
  func `a dry run names the missing files, and writes nothing`(_ kind: Kind) async throws {
    let scene = try PublishScene(kind)
    try scene.write(1)
    let planned = try await scene.publish(isWhole: true, isDryRun: true)
    #expect(try await scene.store.list("") == [])
    #expect(!Files.exists(scene.notes))
    #expect(planned.paths.count == 6)
    #expect(planned.paths.first == "users/\(PublishScene.users[0])/1/ios.bundle.zip")
    #expect(try await scene.publish() == planned)
    #expect(try await scene.publish(isWhole: true, isDryRun: true).isEmpty)
    // A renewed signature is replaced; a bundle never is.
    let signature = "users/\(PublishScene.users[1])/1/ios.bundle.zip.sig"
    try DurableFile.write([1], to: scene.path(1, "1/ios.bundle.zip.sig"))
    #expect(try await scene.publish(isWhole: true, isDryRun: true).paths == [signature])
    #expect(try await scene.publish().paths == [signature])
    #expect(try await scene.publishedGenerations() == [1, 1])
  }

  @Test func `objects of a lost generation are removed with a later pruned one`() async throws {
    let scene = try PublishScene(.directory)
    for generation in 1...4 {
      try scene.write(generation)
      try await scene.publish()
    }
    for lost in [1, 2] { try Files.remove(scene.path(0, "\(lost)")) }
    try scene.notePruned([3], of: 0)
    #expect(try await scene.publish().removed == 9)
    #expect(try await scene.publishedGenerations() == [4, 4])
    for generation in 1...3 {
      #expect(try await scene.store.list(scene.key(0, "\(generation)/")) == [])
      #expect(try await scene.store.list(scene.key(1, "\(generation)/")).count == 3)
    }
  }

  @Test(arguments: Kind.installed)
  func `objects of a pruned generation are removed unless latest names it`(
    _ kind: Kind
  ) async throws {
    let scene = try PublishScene(kind)
    for generation in [1, 2] {
      try scene.write(generation)
      try await scene.publish()
    }
    try scene.notePruned([1, 2], of: 0)
    #expect(try await scene.publish(isDryRun: true).removed == 3)
    #expect(try await scene.publish().removed == 3)
    #expect(try await scene.store.list(scene.key(0, "1/")) == [])
    #expect(try await scene.store.list(scene.key(1, "1/")).count == 3)
    #expect(try await scene.publishedGenerations() == [2, 2])
    // It is removed once another generation is published.
    try scene.write(3)
    try await scene.publish()
    #expect(try await scene.store.list(scene.key(0, "2/")) == [])
    #expect(try await scene.publishedGenerations() == [3, 3])
  }
}
