import Foundation
import JSON
import Pipelines
import SmartStore
import TestSupport
import Testing

@Suite struct PipelineFileTests {
  static let samples = PipelineSchemaTests.root.appendingPathComponent("pipelines/samples").path

  @Test func `the minimal pipeline gets every default`() throws {
    let pipeline = try PipelineFile.read(path: Self.samples + "/pipeline-minimal.json")
    #expect(pipeline.name == "first")
    #expect(pipeline.org.apiVersion == nil)
    #expect(pipeline.stores.first?.scope == .user)
    #expect(pipeline.stores.first?.prime == ["syncDownContacts"])
    #expect(pipeline.stores.first?.reconcile == ["syncUpContacts"])
    #expect(pipeline.stores.first?.storeName == StoreLocation.defaultStoreName)
    #expect(pipeline.prime.runsBetweenListings == 7)
    #expect(pipeline.pack.format == .zip)
    #expect(pipeline.inbox.accept == [.bundle, .store])
    #expect(pipeline.limits.jobs == 2)
  }

  @Test func `the sample of every key is valid, and all of it is supported`() throws {
    _ = try PipelineFile.read(path: Self.samples + "/pipeline-example.json")
  }

  @Test func `the effective file is a pipeline file with the same meaning`() throws {
    let first = try #require(
      PipelineFile.reading(path: Self.samples + "/pipeline-example.json").pipeline)
    let directory = TemporaryDirectory("effective")
    let path = directory.file("p.json")
    // Its paths are already absolute where the first one's directory is.
    let text = first.effectiveJSON.text
    #expect(text.contains("/samples/field-service/userstore.json"))
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    let second = PipelineFile.reading(path: path)
    #expect(second.problems.map(\.description) == [])
    #expect(second.pipeline?.effectiveJSON == first.effectiveJSON)
    #expect(!text.contains("BEGIN"))
  }

  @Test func `an unset environment variable is a problem at its location`() {
    let path = Self.samples + "/pipeline-minimal.json"
    let none = PipelineFile.reading(path: path, variables: ["ATTACHE_CLIENT_ID": "x"])
    #expect(
      none.problems.map { $0.description.replacingOccurrences(of: Self.samples, with: "") } == [
        "/pipeline-minimal.json:6:21: org.url.env: "
          + "the environment variable ATTACHE_ORG_URL is not set; export ATTACHE_ORG_URL=…"
      ])
    let both = ["ATTACHE_CLIENT_ID": "x", "ATTACHE_ORG_URL": "https://example.com"]
    #expect(PipelineFile.reading(path: path, variables: both).problems == [])
  }

  @Test func `a pipeline is named by its path or by its name`() throws {
    let path = Self.samples + "/pipeline-minimal.json"
    #expect(try PipelineFile.locate(path) == path)
    #expect(try PipelineFile.locate("pipeline-minimal", in: ["/nowhere", Self.samples]) == path)
    let error = #expect(throws: Problems.self) {
      try PipelineFile.locate("pipeline-minimum", in: ["/nowhere"])
    }
    #expect(
      error?.description
        == "/nowhere/pipeline-minimum.json: there is no pipeline \"pipeline-minimum\" in /nowhere; "
        + "name the file by its path")
    let near = #expect(throws: Problems.self) {
      try PipelineFile.locate("pipeline-minimum", in: [Self.samples])
    }
    let fix = "; did you mean pipeline-minimal? known pipelines: "
    #expect(near?.description.contains(fix) == true, "\(near?.description ?? "")")
  }

  @Test func `a file that is not JSON is one problem`() throws {
    let directory = TemporaryDirectory("pipeline")
    for text in ["Id,Name\n1,\"x\"\n", "SQLite format 3"] {
      try Data(text.utf8).write(to: URL(fileURLWithPath: directory.file("bad.csv")))
      #expect(
        PipelineFile.reading(path: directory.file("bad.csv")).problems.map(\.message)
          == ["this is not a pipeline file (JSON)"])
    }
  }

  @Test func `a missing file has its own error, with the nearest name`() {
    let reading = PipelineFile.reading(path: "/nowhere/p.json")
    let told = reading.problems.map(\.description)
    let start = "/nowhere/p.json: there is no such pipeline file; name a file, or "
    #expect(told.count == 1 && told[0].hasPrefix(start), "\(told)")
    let near = PipelineFile.reading(path: Self.samples + "/pipeline-minimum.json").problems
    #expect(near.map(\.fix) == ["did you mean \(Self.samples)/pipeline-minimal.json?"])
    #expect(Problems(near).ofFile?.fix == near.first?.fix)
  }

  @Test func `the examples of the configuration page work`() throws {
    let page = PipelineSchemaTests.root.appendingPathComponent("docs/configuration.md")
    let blocks = try String(contentsOf: page, encoding: .utf8).components(separatedBy: "```json\n")
      .dropFirst().map { $0.components(separatedBy: "```")[0] }
    try #require(blocks.count == 3)
    let minimal = URL(fileURLWithPath: Self.samples + "/pipeline-minimal.json")
    #expect(
      try JSONValue(parsing: blocks[2])
        == (try JSONValue(parsing: Array(Data(contentsOf: minimal)))))
    let directory = TemporaryDirectory("page")
    for (name, text) in zip(["contacts.userstore", "contacts.usersyncs", "p"], blocks) {
      try Data(text.utf8).write(to: URL(fileURLWithPath: directory.file(name + ".json")))
    }
    let pipeline = try PipelineFile.read(path: directory.file("p.json"))
    #expect(pipeline.stores.first?.primed.count == 1)
    #expect(pipeline.stores.first?.reconciled.count == 1)
  }
}
