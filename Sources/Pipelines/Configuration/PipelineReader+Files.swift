import Crypto
import JSON
import System

extension PipelineReader {
  /// Reads the files of the login (the private key, and the trusted authorities), of the key that
  /// signs, and of the access keys.
  ///
  /// A fault in a file is a problem. A missing file, or one that only another user may read, is
  /// only a remark, because pipelines are often checked on machines without their secrets.
  mutating func checkFiles(_ pipeline: Pipeline, _ root: JSONNode) {
    checkUsers(pipeline, root)
    let login = root["org"]?["login"]
    if case .file(let path) = pipeline.org.login.key, let node = login?["key"]?["file"],
      let bytes = content(of: path, node)
    {
      report(PEMFault.ofKey(bytes), of: path, node)
      checkAccess(path, node)
    }
    if case .file(let path) = pipeline.pack.sign?.key,
      let node = root["pack"]?["sign"]?["key"]?["file"], let bytes = content(of: path, node)
    {
      report(PEMFault.ofSigningKey(bytes), of: path, node)
      checkAccess(path, node)
    }
    if let path = pipeline.org.caFile, let node = root["org"]?["caFile"],
      let bytes = content(of: path, node)
    {
      report(PEMFault.ofAuthorities(bytes, now: Clock.wallMilliseconds()), of: path, node)
    }
    var secrets = [
      (pipeline.org.login.clientSecret, login?["clientSecret"]),
      (pipeline.org.login.refreshToken, login?["refreshToken"]),
      (pipeline.org.login.accessToken, login?["accessToken"]),
    ]
    for (bucket, section) in Self.buckets(of: pipeline.publish, pipeline.work, pipeline.inbox, root)
    {
      secrets += [
        (bucket.secretAccessKey, section["secretAccessKey"]),
        (bucket.sessionToken, section["sessionToken"]),
      ]
    }
    for (secret, node) in secrets {
      guard case .file(let path) = secret, let node = node?["file"],
        let bytes = content(of: path, node)
      else { continue }
      if bytes.isEmpty { reader.report(node, "\(path) is empty", "write the secret there") }
      checkAccess(path, node)
    }
  }

  /// Reads the table of users.
  ///
  /// A table with refresh tokens is a secret as well.
  private mutating func checkUsers(_ pipeline: Pipeline, _ root: JSONNode) {
    guard case .csv(let file, let username, let token) = pipeline.users.source,
      let section = root["users"]?["csv"], let node = section["file"]
    else { return }
    do throws(UserTable.Fault) {
      guard let token else {
        _ = try UserTable(file: file).rows(["username": username])
        return
      }
      guard let bytes = content(of: file, node) else { return }
      checkAccess(file, node)
      _ = try UserTable(file: file).rows(["username": username, "refreshToken": token], of: bytes)
    } catch {
      if error.line > 0 {
        otherProblems.append(
          Problem(
            file: file, line: error.line, column: 1, path: "", message: error.message,
            fix: error.fix))
      } else {
        reader.report(
          error.key.flatMap { section[$0] } ?? node, "\(file): \(error.message)", error.fix)
      }
    }
  }

  private mutating func content(of path: String, _ node: JSONNode) -> [UInt8]? {
    do throws(SystemError) {
      return try Files.read(path, limit: PipelineFile.limitBytes)
    } catch {
      guard error.isDenied || error.isMissing else {
        reader.report(node, "\(path) cannot be read: \(error.reason)", "name a file")
        return nil
      }
      if error.isMissing {
        missing.append(
          Problem(
            file: reader.file, line: node.line, column: node.column, path: node.path,
            message: "\(path) is missing",
            fix: "put the file there; or, on a machine without the secrets, use --offline-secrets"))
      } else {
        notes.append(
          "\(reader.file):\(node.line):\(node.column): \(path) was not checked: \(error.reason)")
      }
      return nil
    }
  }

  /// Reports a secret that other users may read, as every run would refuse it.
  private func checkAccess(_ path: String, _ node: JSONNode) {
    guard let status = try? Files.status(path),
      let fault = SecretSource.fault(ofMode: status, path)
    else { return }
    reader.report(node, fault.message, fault.fix)
  }

  private func report(_ fault: PEMFault?, of path: String, _ node: JSONNode) {
    guard let fault else { return }
    reader.report(node, "\(path) \(fault.message)", fault.fix.replacing("FILE", with: path))
  }

  /// Reports a file whose name differs from its pipeline's name.
  ///
  /// The command line uses the file's name, the data directory the pipeline's.
  mutating func compareNames(_ pipeline: Pipeline) {
    let stem = PipelineFile.stem(of: pipeline.file)
    guard stem != pipeline.name else { return }
    notes.append(
      "\(pipeline.file): commands use the file name, \(stem), but the data is stored in "
        + "\(pipeline.name)/; rename the file to \(pipeline.name).json, or write \"name\": \"\(stem)\""
    )
  }

  /// Reports sync ups whose modification date field no sync down fetches.
  ///
  /// Changes can then be detected by values alone.
  mutating func compareDates(_ pipeline: Pipeline) {
    for store in pipeline.stores {
      for sync in store.reconciled {
        for use in sync.soups {
          let fetched = store.primed.filter { $0.soups.contains { $0.soupName == use.soupName } }
          guard let date = use.modificationField, !fetched.isEmpty,
            !fetched.contains(where: {
              ($0.modificationFields(of: use.soupName) + $0.fieldNames(of: use.soupName))
                .contains(date)
            })
          else { continue }
          notes.append(
            "\(store.syncsFile):\(sync.line):\(sync.column): \(sync.syncName) uses \(date) as the modification date, "
              + "which no sync down fetches into \(use.soupName): its edits are compared by their values alone; use "
              + "the same modificationDateFieldName in both directions")
        }
      }
    }
  }
}
