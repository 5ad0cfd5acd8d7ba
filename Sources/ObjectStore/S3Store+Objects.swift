import Crypto
import HTTP
import System
import XML

extension S3Store {
  package func head(_ key: String) async throws(ObjectStoreError) -> ObjectEntry? {
    let response = try await send(Request(method: "HEAD", key: key))
    if response.status == 404 { return nil }
    let headers = response.http.headers
    guard response.status == 200 else { throw error(response, key) }
    guard let version = words.version(headers),
      let size = headers["Content-Length"].flatMap({ Int64($0) }), size >= 0,
      let modified = headers["Last-Modified"].flatMap({ Dates.milliseconds(http: $0) })
    else {
      throw ObjectStoreError(
        .invalidResponse("its version, size or time is missing"), location(key))
    }
    return ObjectEntry(
      key: key, size: size, version: version, modified: modified,
      sha256: headers[words.digestHeader])
  }

  package func get(
    _ key: String, to path: String, limit: Int64
  ) async throws(ObjectStoreError) -> ObjectEntry? {
    guard var object = try await head(key) else { return nil }
    guard object.size <= limit else { throw ObjectStoreError(.tooLarge, location(key)) }
    do throws(ObjectStoreError) {
      object.sha256 = try await copy(object, to: path)
      if object.sha256 != nil { return object }
      remove(path)
      return nil
    } catch {
      remove(path)
      throw error
    }
  }

  // The file is incomplete, and its own error is the one to report.
  private func remove(_ path: String) { try? Files.remove(path) }

  /// Copies an object in this version to a file, and returns its SHA-256; nil if it is gone.
  private func copy(
    _ object: ObjectEntry, to path: String
  ) async throws(ObjectStoreError) -> String? {
    let place = location(object.key)
    do throws(SystemError) {
      _ = try Files.createNew(path)
    } catch { throw ObjectStoreError(error, place) }
    var hasher = SHA256Hasher()
    var offset = 0
    while offset < Int(object.size) {
      let end = min(offset + limits.partBytes, Int(object.size))
      var request = Request(
        method: "GET", key: object.key, headers: ["Range": "bytes=\(offset)-\(end - 1)"])
      words.add(.matching(object.version), to: &request.headers)
      let response = try await send(request)
      if response.status == 404 { return nil }
      guard response.status == 206 || (response.status == 200 && offset == 0) else {
        throw error(response, object.key)
      }
      let body = response.http.body
      guard body.count == end - offset else { throw ObjectStoreError(.damaged, place) }
      hasher.update(body)
      do throws(SystemError) {
        try Files.append(body, to: path)
      } catch { throw ObjectStoreError(error, place) }
      offset = end
    }
    let digest = Hex.encode(hasher.finalize())
    if let known = object.sha256, known.lowercased() != digest {
      throw ObjectStoreError(.damaged, place)
    }
    return digest
  }

  package func delete(
    _ key: String, matching version: ObjectVersion
  ) async throws(ObjectStoreError) {
    // Stores that ignore the condition of a removal are at least asked a moment before.
    guard let found = try await head(key) else { return }
    guard found.version == version else {
      throw ObjectStoreError(.conditionFailed, location(key))
    }
    var request = Request(method: "DELETE", key: key)
    words.add(.matching(version), to: &request.headers)
    var response = try await send(request)
    if response.status == 501 || response.fault?.code == "NotImplemented" {
      response = try await send(Request(method: "DELETE", key: key))
    }
    guard HTTPStatus.success.contains(response.status) || response.status == 404 else {
      throw error(response, key)
    }
  }

  package func page(
    of prefix: String, after mark: String?
  ) async throws(ObjectStoreError) -> ObjectPage {
    var request = Request(method: "GET")
    request.query = [
      ("list-type", "2"), ("encoding-type", "url"), ("prefix", bucket.key(prefix)),
      ("max-keys", String(limits.pageObjects)),
    ]
    if let mark { request.query.append(("continuation-token", mark)) }
    let response = try await send(request)
    guard response.status == 200 else { throw error(response, nil) }
    guard let root = XMLElement(parsing: response.http.body), root.name == "ListBucketResult",
      let page = read(root)
    else { throw ObjectStoreError(.invalidResponse("it is not a list of objects"), location) }
    return page
  }

  private func read(_ root: XMLElement) -> ObjectPage? {
    let isEncoded = root.child("EncodingType")?.text == "url"
    var page = ObjectPage(objects: [])
    for element in root.children where element.name == "Contents" {
      guard let written = element.child("Key")?.text,
        let version = element.child(words.versionElement)?.text,
        let size = element.child("Size").flatMap({ Int64($0.text) }), size >= 0,
        let modified = element.child("LastModified")
          .flatMap({ Dates.milliseconds(iso8601: $0.text) })
      else { return nil }
      let whole = isEncoded ? HTTPQuery.decode(form: written).first?.0 ?? "" : written
      guard let key = bucket.shortKey(whole) else { return nil }
      page.objects.append(
        ObjectEntry(
          key: key, size: size, version: ObjectVersion(version), modified: modified))
    }
    if root.child("IsTruncated")?.text == "true" {
      guard let next = root.child("NextContinuationToken")?.text, !next.isEmpty else { return nil }
      page.next = next
    }
    return page
  }
}
