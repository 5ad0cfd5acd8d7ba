import Arguments
import JSON
import Pipelines
import System

/// `attache publish url`: prints addresses with which a device can read a user's files.
struct PublishURLCommand: Command {
  static let name = "publish url"
  static let summary = "print addresses that read a user's published files for some time"
  static let discussion = """
    Each address is signed with the access key: anyone who has it can read the file. The first one is that of \
    latest.json. No request is sent, so a file need not be published yet. An app gets such addresses from its own \
    backend; these are for tests.
    """
  static let examples = [
    Note("attache publish url field-service ada@example.com", "addresses for one hour")
  ]
  static var parameters: [Parameter<Self>] {
    [
      .pipeline(\.pipeline),
      .argument("user", "a user name, or the user's 18-character ID", \.user),
      .option("seconds", "SECONDS", "how long they are valid (default: 3600)", \.seconds),
    ] + Options.pipeline.map { $0.within(\.options) }
  }

  var pipeline = ""
  var user = ""
  var seconds: Int?
  var options = Options()

  /// The longest validity of an address, which S3 sets.
  private static let most = 7 * 24 * 60 * 60

  func validate() throws(UsageError) {
    if let seconds, !(1...Self.most).contains(seconds) {
      throw UsageError("--seconds must be from 1 to \(Self.most)", hint: "correct --seconds")
    }
  }

  func run(_ context: Program) async throws -> ExitStatus {
    let call = PipelineCall(program: context, options: options, name: pipeline)
    let read = try call.read()
    guard
      let publisher = try await Publisher.open(
        read, root: call.root(of: read), variables: context.variables)
    else {
      throw UsageError(
        "the pipeline does not publish to a store", hint: "add publish.store to the pipeline file")
    }
    let urls = try publisher.urls(of: user, seconds: seconds ?? 3600)
    if urls.isEmpty {
      throw PipelineError(
        .unknownName, "users.no-bundles", "\(user) has no bundles",
        fix: "give a user name, or an ID in bundles.json")
    }
    if options.json {
      context.print(
        .array(urls.map { ["path": .string($0.path), "url": .string($0.url)] }))
    } else {
      for (_, url) in urls { context.print(url) }
    }
    return .done
  }
}
