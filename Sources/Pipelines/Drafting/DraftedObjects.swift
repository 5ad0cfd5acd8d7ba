import JSON
import Salesforce
import System

/// The org's descriptions of objects for the first user of a new pipeline.
package struct DraftedObjects: Sendable {
  /// The objects, in the order in which they were named.
  package let objects: [Describe]
  /// The org's own address.
  package let address: String
  /// The user as whom the org was asked.
  package let username: String

  /// Logs in as the draft says, and requests the descriptions.
  ///
  /// `root` is the directory that holds `<pipeline>/`.
  package static func ask(
    _ names: [String], _ draft: PipelineDraft, root: String, variables: [String: String]
  ) async throws -> DraftedObjects {
    var provisional = draft
    provisional.store = .provisional
    let scratch = try Files.makeScratchDirectory(variables)
    defer { try? Files.remove(scratch) }
    let pipeline: Pipeline
    do {
      pipeline = try provisional.write(into: scratch, variables: variables)
    } catch let error as Problems {
      throw Problems(error.list.map { $0.below(scratch) })
    }
    let access = try OrgAccess(
      pipeline, DataDirectory(root: root, name: draft.name), variables: variables)
    let session = try await session(draft, access)
    var objects: [Describe] = []
    for name in names { objects.append(try await describe(name, session)) }
    return DraftedObjects(
      objects: objects, address: session.instanceURL, username: session.identity.username)
  }

  private static func session(_ draft: PipelineDraft, _ access: OrgAccess) async throws -> Session {
    if case .list(let names) = draft.users, let first = names.first {
      return try await access.session(as: first)
    }
    return try await access.anySession()
  }

  private static func describe(_ name: String, _ session: Session) async throws -> Describe {
    do throws(OrgError) {
      return try await session.describe(name)
    } catch {
      guard error.kind == .notFound || error.isAboutTheObject else { throw error }
      let names = (try? await session.objectNames()) ?? []
      let near = Spelling.nearest(name, among: names)
      throw PipelineError(
        .configuration, "init.object", "\(session.identity.username) cannot see an object \(name)",
        fix: near.map { "write \($0)" } ?? "write its API name, such as Contact or Site_Visit__c")
    }
  }
}

extension Problem {
  /// Returns the problem without the path of the temporary directory of the file.
  fileprivate func below(_ directory: String) -> Problem {
    Problem(
      file: file.hasPrefix(directory + "/")
        ? String(file.dropFirst(directory.utf8.count + 1)) : file,
      line: line, column: column, path: path, message: message, fix: fix)
  }
}
