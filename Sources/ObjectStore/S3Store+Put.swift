import HTTP
import System
import XML

extension S3Store {
  @discardableResult
  package func put(
    _ key: String, _ content: ObjectContent, if condition: PutCondition
  ) async throws(ObjectStoreError) -> ObjectVersion {
    if case .file(let path) = content.source, content.size > limits.singlePutBytes,
      words.hasConditionalParts
    {
      return try await putParts(of: path, key, content, condition)
    }
    var request = Request(method: "PUT", key: key, headers: headers(of: content))
    request.sha256 = content.sha256
    switch content.source {
    case .bytes(let bytes): request.body = bytes
    case .file(let path): request.file = FilePart(path: path, offset: 0, count: content.size)
    }
    words.add(condition, to: &request.headers)
    let response = try await send(request)
    if HTTPStatus.success.contains(response.status) {
      return try version(words.version(response.http.headers), key)
    }
    return try await outcome(of: response, key, content, condition)
  }

  private func headers(of content: ObjectContent) -> HTTPHeaders {
    [words.digestHeader: content.sha256, "Content-Type": "application/octet-stream"]
  }

  private func version(
    _ version: ObjectVersion?, _ key: String
  ) throws(ObjectStoreError) -> ObjectVersion {
    guard let version else {
      throw ObjectStoreError(.invalidResponse("its version is missing"), location(key))
    }
    return version
  }

  /// Returns the version that a write without success made after all, or throws its error.
  ///
  /// If a response was lost, the condition of the repeat fails because of the first attempt.
  private func outcome(
    of response: Response, _ key: String, _ content: ObjectContent, _ condition: PutCondition
  ) async throws(ObjectStoreError) -> ObjectVersion {
    var failure = error(response, key)
    // An object that is missing has no version.
    if response.status == 404, condition != .absent, response.fault?.code == "NoSuchKey" {
      failure = ObjectStoreError(.conditionFailed, location(key))
    }
    let isGone = response.fault?.code == "NoSuchUpload"
    guard response.isRepeated, isGone || failure.kind == .conditionFailed,
      let found = try await head(key), found.sha256 == content.sha256
    else { throw failure }
    return found.version
  }

  // MARK: in parts

  /// The maximum number of parts.
  private static let mostParts = 10_000
  /// The number of times that a whole upload is started, if others write the same object.
  private static let attempts = 3

  private func putParts(
    of path: String, _ key: String, _ content: ObjectContent, _ condition: PutCondition
  ) async throws(ObjectStoreError) -> ObjectVersion {
    var attempt = 1
    while true {
      let upload = try await begin(key, content)
      do throws(ObjectStoreError) {
        let tags = try await sendParts(of: path, key, content, upload)
        let response = try await complete(key, upload, tags, condition)
        if response.status == 409, attempt < Self.attempts {
          // The store requires a new upload.
          await abort(key, upload)
          attempt += 1
          continue
        }
        let result = XMLElement(parsing: response.http.body)
        if response.status == 200, response.fault == nil,
          result?.name == "CompleteMultipartUploadResult"
        {
          return try version(result?.child("ETag").map { ObjectVersion($0.text) }, key)
        }
        return try await outcome(of: response, key, content, condition)
      } catch {
        await abort(key, upload)
        throw error
      }
    }
  }

  private func begin(
    _ key: String, _ content: ObjectContent
  ) async throws(ObjectStoreError) -> String {
    let response = try await send(
      Request(method: "POST", key: key, query: [("uploads", "")], headers: headers(of: content)))
    guard response.status == 200 else { throw error(response, key) }
    guard let root = XMLElement(parsing: response.http.body),
      let id = root.child("UploadId")?.text, !id.isEmpty
    else { throw ObjectStoreError(.invalidResponse("it names no upload"), location(key)) }
    return id
  }

  private func sendParts(
    of path: String, _ key: String, _ content: ObjectContent, _ upload: String
  ) async throws(ObjectStoreError) -> [String] {
    var tags: [String] = []
    let size = max(limits.partBytes, (content.size + Self.mostParts - 1) / Self.mostParts)
    for offset in stride(from: 0, to: content.size, by: size) {
      let part = FilePart(
        path: path, offset: offset, count: min(size, content.size - offset))
      var request = Request(method: "PUT", key: key)
      request.query = [("partNumber", String(tags.count + 1)), ("uploadId", upload)]
      request.file = part
      request.sha256 = try ObjectContent.sha256(of: part)
      let response = try await send(request)
      guard response.status == 200 else { throw error(response, key) }
      guard let tag = response.http.headers["ETag"] else {
        throw ObjectStoreError(.invalidResponse("a part has no tag"), location(key))
      }
      tags.append(tag)
    }
    return tags
  }

  private func complete(
    _ key: String, _ upload: String, _ tags: [String], _ condition: PutCondition
  ) async throws(ObjectStoreError) -> Response {
    let parts = tags.enumerated().map { index, tag in
      "<Part><PartNumber>\(index + 1)</PartNumber><ETag>\(Self.escaped(tag))</ETag></Part>"
    }
    let body = ObjectContent(
      Array(("<CompleteMultipartUpload>" + parts.joined() + "</CompleteMultipartUpload>").utf8))
    var request = Request(method: "POST", key: key, query: [("uploadId", upload)])
    request.headers["Content-Type"] = "application/xml"
    if case .bytes(let bytes) = body.source { request.body = bytes }
    request.sha256 = body.sha256
    request.repeatsConflicts = false
    words.add(condition, to: &request.headers)
    return try await send(request)
  }

  /// Removes the parts of an upload; the store's own rule for incomplete uploads removes what is
  /// left if this fails.
  private func abort(_ key: String, _ upload: String) async {
    _ = try? await send(Request(method: "DELETE", key: key, query: [("uploadId", upload)]))
  }

  private static func escaped(_ text: String) -> String {
    text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
  }
}
