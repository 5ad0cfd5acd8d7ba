import Bundles
import Crypto
import JSON
import Salesforce
import System

extension PipelineReader {
  /// Reads the secrets that a run needs, but runs no program for them.
  ///
  /// A fault in a secret is a problem. A missing one, or a file that only another user may read, is
  /// only a remark, because pipelines are often checked on machines without their secrets.
  mutating func checkSecrets(_ pipeline: Pipeline, _ variables: [String: String]) {
    for (node, message, fix) in missingVariables(variables) { miss(node, message, fix) }
    for (node, source) in secrets {
      switch source {
      case .env(let name):
        guard let value = variables[name], !value.isEmpty else { continue }
        check(Array(value.utf8), of: "the environment variable \(name)", node, pipeline)
      case .file(let path):
        guard let bytes = content(of: path, node) else { continue }
        check(bytes, of: path, node, pipeline)
        checkAccess(path, node)
      case .credential(let name):
        guard let directory = variables["CREDENTIALS_DIRECTORY"] else {
          let fault = SecretSource.noCredentials(name)
          miss(node, fault.message, fault.fix)
          continue
        }
        guard let bytes = content(of: directory + "/" + name, node) else { continue }
        check(bytes, of: directory + "/" + name, node, pipeline)
      case .command: continue
      }
    }
  }

  /// Reports what a run would refuse about the content of a secret.
  private func check(_ bytes: [UInt8], of name: String, _ node: JSONNode, _ pipeline: Pipeline) {
    let secret = Secret(bytes)
    func isAt(_ path: String) -> Bool { node.path.hasPrefix(path + ".") }
    if isAt("org.login.key") {
      report(PEMFault.ofKey(bytes), of: name, node)
    } else if isAt("pack.sign.key") {
      report(PEMFault.ofSigningKey(bytes), of: name, node)
    } else if secret.isEmpty {
      reader.report(node, "\(name) is empty", "write the secret there")
    } else if isAt("org.url"), let text = secret.text, let fault = OrgAddress.fault(of: text) {
      reader.report(node, "\(name): \(fault.what)", fault.fix)
    } else if isAt("pack.seal.passphrase"), pipeline.pack.seal?.method == .archive,
      !ArchiveKey.isKey(secret)
    {
      reader.report(node, "\(name): \(SealingKeys.notKey.message)", SealingKeys.notKey.fix)
    }
  }

  /// Reads the table of users and the trusted authorities.
  mutating func checkFiles(_ pipeline: Pipeline, _ root: JSONNode) {
    checkUsers(pipeline, root)
    if let path = pipeline.org.caFile, let node = root["org"]?["caFile"],
      let bytes = content(of: path, node)
    {
      report(PEMFault.ofAuthorities(bytes, now: Clock.wallMilliseconds()), of: path, node)
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
            file: file, line: error.line, column: error.column, path: "", message: error.message,
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
        miss(node, "\(path) is missing", "put the file there")
      } else {
        notes.append(
          "\(reader.file):\(node.line):\(node.column): \(path) was not checked: \(error.reason)")
      }
      return nil
    }
  }

  private mutating func miss(_ node: JSONNode, _ message: String, _ fix: String) {
    missing.append(
      Problem(
        file: reader.file, line: node.line, column: node.column, path: node.path, message: message,
        fix: fix + "; or, on a machine without the secrets, use --offline-secrets"))
  }

  /// Reports a secret that is a link or that other users may read, as every run would refuse it.
  private func checkAccess(_ path: String, _ node: JSONNode) {
    let fault =
      SecretSource.faultOfLink(path)
      ?? (try? Files.status(path)).flatMap { SecretSource.fault(ofMode: $0, path) }
    if let fault { reader.report(node, fault.message, fault.fix) }
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
