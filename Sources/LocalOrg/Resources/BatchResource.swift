import JSON

/// `POST /composite/batch`: up to 25 independent requests.
enum BatchResource {
  private static let most = 25

  @Sendable static func run(_ call: APIRequest) throws(OrgError) -> APIResponse {
    let body = try call.object(of: ["haltOnError", "batchRequests"])
    guard let values = body["batchRequests"]?.array, !values.isEmpty else {
      throw .unreadableBody("The body must have an array \"batchRequests\"")
    }
    guard values.count <= most else { throw .tooMany("subrequests", values.count, limit: most) }
    let haltsAtError = body["haltOnError"]?.bool ?? false
    var hasErrors = false
    var answers: [APIResponse] = []
    var writer = JSONWriter()
    writer.beginArray()
    for (place, value) in values.prefix(call.faults.partLimit ?? values.count).enumerated() {
      call.faults.delay(part: place)
      let refusal = call.faults.refusal(ofPart: place).map { APIResponse.failure([$0]) }
      let answer = hasErrors && haltsAtError ? halted : refusal ?? part(value, call)
      if !answer.isSuccess { hasErrors = true }
      answers.append(answer)
      writer.beginObject()
      writer.name("statusCode")
      writer.number(answer.status)
      writer.name("result")
      if answer.body.isEmpty { writer.null() } else { writer.raw(answer.body) }
      writer.endObject()
    }
    writer.endArray()
    var envelope = JSONWriter(reserving: writer.bytes.count + 40)
    envelope.beginObject()
    envelope.name("hasErrors")
    envelope.bool(hasErrors)
    envelope.name("results")
    envelope.raw(writer.bytes)
    envelope.endObject()
    // Each part counts as a call.
    call.server.count(max(0, answers.count - 1))
    var whole = APIResponse(body: envelope.bytes, calls: answers.count)
    whole.count(answers)
    return whole
  }

  private static let halted = APIResponse.failure([
    OrgError(
      status: 412, code: "BATCH_PROCESSING_HALTED",
      message: "Batch processing halted per request")
  ])

  private static func part(_ value: JSONValue, _ call: APIRequest) -> APIResponse {
    let members: Set = [
      "method", "url", "richInput", "binaryPartName", "binaryPartNameAlias",
    ]
    if let object = value.object {
      do throws(OrgError) { try object.checkNames(members) } catch { return .failure([error]) }
    }
    guard let method = value["method"]?.string, let url = value["url"]?.string else {
      return .failure([.unreadableBody("Each of \"batchRequests\" must have method and url")])
    }
    let target = Target(method: method.uppercased(), url: url)
    guard let (version, path) = target.dataPath, path.first != "composite",
      path.first != "jobs"
    else {
      return .failure([.notFound])
    }
    let input = value["richInput"].flatMap { $0.isNull ? nil : $0 }
    return Router.answer(
      call.part(target, version: version, path: path, headers: [:], body: input))
  }
}
