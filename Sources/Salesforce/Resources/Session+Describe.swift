import HTTP
import JSON
import System

extension Session {
  /// The description of an sObject for this user.
  package func describe(_ sObject: String) async throws(OrgError) -> Describe {
    if let known = knownObject(sObject) { return known }
    let call = OrgCall(.describe, "GET", describePath(sObject))
    let response = try await send(call)
    guard let objects else {
      guard let describe = Describe(try Self.parse(response, call)) else {
        throw Self.invalidResponse(Self.noDescription, call)
      }
      return describe
    }
    guard let describe = objects.read(response.body) else {
      throw Self.invalidResponse(Self.noDescription, call)
    }
    objects.keep(describe, as: sObject)
    return describe
  }

  private static let noDescription = "the response does not describe an sObject"

  /// The cached description of an object for this user; nil if it was not requested, does not
  /// exist, or descriptions are not cached.
  package func knownObject(_ sObject: String) -> Describe? { objects?.find(sObject) ?? nil }

  /// Whether the description of an object is cached, or known not to exist.
  package func knows(_ sObject: String) -> Bool { objects?.find(sObject) != nil }

  /// Requests the descriptions of several objects, as many as possible in one request.
  ///
  /// Cached ones are not requested again. A session without a cache requests nothing.
  package func learn(_ sObjects: [String]) async throws(OrgError) {
    for part in descriptionRequests(sObjects).parts(of: RequestLimits.composite) {
      try await learn(part)
    }
  }

  /// Lets the next request with several parts describe these objects too, so that they need no
  /// separate request.
  ///
  /// What is needed before such a request is sent, or was not described by it, is requested as if
  /// nothing had been expected.
  package func expectDescriptions(of sObjects: [String]) { objects?.expect(sObjects) }

  /// Whether the next request with several parts describes objects too.
  package var expectsDescriptions: Bool { objects?.expectedNames.isEmpty == false }

  /// Records that the org has answered a request of the user for fields of an object, which shows
  /// that the user may read them.
  package func note(read fields: [String], of sObject: String) {
    objects?.note(read: fields, of: sObject)
  }

  /// Whether an answer has shown that the user may read a field of an object; nil stands for any
  /// field.
  package func hasRead(_ field: String?, of sObject: String) -> Bool {
    objects?.hasRead(field, of: sObject) ?? false
  }

  /// The parts that describe the expected objects, at most `count`.
  func expectedDescriptions(_ count: Int) -> [CompositeRequest] {
    guard let objects else { return [] }
    return Array(descriptionRequests(objects.takeExpected()).prefix(max(0, count)))
  }

  /// The parts of composite requests that describe those of these objects that are not cached; none
  /// for a session without a cache.
  package func descriptionRequests(_ sObjects: [String]) -> [CompositeRequest] {
    guard let objects else { return [] }
    var seen: Set<String> = []
    var unknown: [String] = []
    for name in sObjects where !knows(name) && seen.insert(name.lowercased()).inserted {
      if APIName.isValid(name) { unknown.append(name) } else { objects.keep(nil, as: name) }
    }
    return unknown.map {
      CompositeRequest(method: "GET", url: describePath($0), referenceId: $0)
    }
  }

  private func learn(_ requests: [CompositeRequest]) async throws(OrgError) {
    let call = try compositeCall(requests, kind: .describe)
    let body: [UInt8]
    do throws(OrgError) {
      body = try await send(call).body
    } catch {
      guard error.kind == .tooLarge, requests.count > 1 else { throw error }
      for half in requests.parts(of: (requests.count + 1) / 2) { try await learn(half) }
      return
    }
    for answer in try PartAnswer.all(in: body, to: requests, call) { try keepDescription(answer) }
  }

  /// Caches the answer to a part that describes an object.
  package func keepDescription(_ answer: PartAnswer) throws(OrgError) {
    guard let objects else { return }
    if answer.status == 404 { return objects.keep(nil, as: answer.name) }
    let part = "GET " + describePath(answer.name)
    guard answer.isSuccess else {
      throw answer.error(request: part, "the org does not describe the object")
    }
    guard let describe = objects.read(answer.body) else {
      throw OrgError(.invalidResponse, message: Self.noDescription, request: part)
    }
    objects.keep(describe, as: answer.name)
  }

  private func describePath(_ sObject: String) -> String {
    path("sobjects/\(HTTPQuery.encode(sObject))/describe")
  }

  /// The description of an sObject for this user as the org's bytes: one JSON object.
  package func describeAnswer(_ sObject: String) async throws(OrgError) -> [UInt8] {
    try await object(OrgCall(.describe, "GET", describePath(sObject)))
  }

  /// The API names of all objects that the user can see.
  package func objectNames() async throws(OrgError) -> [String] {
    let call = OrgCall(.describe, "GET", path("sobjects"))
    guard let objects = try await json(call)["sobjects"]?.array else {
      throw Self.invalidResponse("the response does not list objects", call)
    }
    return objects.compactMap { $0["name"]?.string }
  }
}
