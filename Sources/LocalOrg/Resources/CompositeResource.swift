import HTTP
import JSON

/// `POST /composite`: up to 25 requests in order; later ones may refer to earlier results.
enum CompositeResource {
  private static let most = 25
  private static let mostQueries = 5

  /// Thrown inside the transaction to roll it back.
  private struct RolledBack: Error {}

  @Sendable static func run(_ call: APIRequest) throws(OrgError) -> APIResponse {
    let body = try call.object(
      of: ["allOrNone", "collateSubrequests", "compositeRequest"])
    let parts = try parts(of: body)
    let allOrNone = body["allOrNone"]?.bool ?? false
    var results: [CompositeResult] = []
    do {
      if allOrNone {
        try call.org.transaction {
          results = perform(parts, call, haltsAtFailure: true)
          let isWhole = results.count == parts.count && results.allSatisfy(\.answer.isSuccess)
          if !isWhole { throw RolledBack() }
        }
      } else {
        results = perform(parts, call, haltsAtFailure: false)
      }
    } catch is RolledBack {
      results = rolledBack(results, parts)
    } catch {
      throw .storage(error)
    }
    return envelope(results)
  }

  private static func parts(of body: JSONObject) throws(OrgError) -> [CompositePart] {
    guard let values = body["compositeRequest"]?.array, !values.isEmpty else {
      throw .unreadableBody("The body must have an array \"compositeRequest\"")
    }
    guard values.count <= most else { throw .tooMany("operations", values.count, limit: most) }
    var parts: [CompositePart] = []
    var names: Set<String> = []
    var queries = 0
    for value in values {
      let part = try CompositePart(value)
      guard names.insert(part.referenceID).inserted else {
        throw OrgError(
          code: "INVALID_INPUT", message: "Duplicate referenceId \(part.referenceID)")
      }
      if part.isQueryOrCollection { queries += 1 }
      parts.append(part)
    }
    guard queries <= mostQueries else {
      throw .tooMany("query or collection operations", queries, limit: mostQueries)
    }
    return parts
  }

  private static func perform(_ parts: [CompositePart], _ call: APIRequest, haltsAtFailure: Bool)
    -> [CompositeResult]
  {
    var references = CompositeReferences()
    var results: [CompositeResult] = []
    for (place, part) in parts.prefix(call.faults.partLimit ?? parts.count).enumerated() {
      let answer: APIResponse
      call.faults.delay(part: place)
      do throws(OrgError) {
        if let error = call.faults.refusal(ofPart: place) { throw error }
        answer = try part.run(call, references)
      } catch {
        answer = .failure([error])
      }
      references.add(part.referenceID, answer)
      results.append(CompositeResult(referenceID: part.referenceID, answer: answer))
      if haltsAtFailure, !answer.isSuccess { break }
    }
    return results
  }

  /// The failed request has its error; all others were rolled back or not run.
  private static func rolledBack(_ results: [CompositeResult], _ parts: [CompositePart])
    -> [CompositeResult]
  {
    let halted = APIResponse.failure([
      OrgError(
        code: "PROCESSING_HALTED",
        message: "The transaction was rolled back since another operation in the same "
          + "transaction failed.")
    ])
    return parts.enumerated().map { index, part in
      let own = index < results.count ? results[index] : nil
      if let own, !own.answer.isSuccess { return own }
      return CompositeResult(referenceID: part.referenceID, answer: halted)
    }
  }

  private static func envelope(_ results: [CompositeResult]) -> APIResponse {
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("compositeResponse")
    writer.beginArray()
    for result in results {
      writer.beginObject()
      writer.name("body")
      if result.answer.body.isEmpty { writer.null() } else { writer.raw(result.answer.body) }
      writer.name("httpHeaders")
      writer.beginObject()
      for field in result.answer.headers.all {
        writer.name(field.name)
        writer.string(field.value)
      }
      writer.endObject()
      writer.name("httpStatusCode")
      writer.number(result.answer.status)
      writer.name("referenceId")
      writer.string(result.referenceID)
      writer.endObject()
    }
    writer.endArray()
    writer.endObject()
    var answer = APIResponse(body: writer.bytes)
    answer.count(results.map(\.answer))
    return answer
  }
}

/// The response of one part of a composite.
struct CompositeResult: Sendable {
  let referenceID: String
  let answer: APIResponse
}
