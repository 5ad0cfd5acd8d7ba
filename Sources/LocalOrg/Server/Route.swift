/// One path of the data API with its methods.
struct Route: Sendable {
  typealias Work = @Sendable (APIRequest) throws(OrgError) -> APIResponse

  /// A method of a route.
  struct Method: Sendable {
    let name: String
    let kind: RequestKind
    let work: Work

    init(_ name: String, _ kind: RequestKind, _ work: @escaping Work) {
      self.name = name
      self.kind = kind
      self.work = work
    }
  }

  /// The path segments after the version; `*` matches any one.
  let pattern: [String]
  let methods: [Method]
  /// The first version that has it.
  let since: Int

  init(_ pattern: String, since: Int = 0, _ methods: Method...) {
    self.since = since
    self.pattern = pattern.split(separator: "/").map(String.init)
    self.methods = methods
  }

  func matches(_ path: [String]) -> Bool {
    path.count == pattern.count
      && zip(pattern, path).allSatisfy { $0 == "*" || $0.lowercased() == $1.lowercased() }
  }

  /// Returns the method with that name; HEAD is a GET whose body is not sent.
  func method(_ name: String) -> Method? {
    methods.first { $0.name == name } ?? (name == "HEAD" ? methods.first { $0.name == "GET" } : nil)
  }
}
