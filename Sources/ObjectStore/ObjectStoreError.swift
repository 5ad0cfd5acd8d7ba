import HTTP
import System

/// The reason that a store did not do what it was asked.
///
/// It contains no secret: neither a key, nor an address with a signature.
package struct ObjectStoreError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What failed.
  package enum Kind: Sendable, Hashable {
    /// The condition of a write or a removal does not hold.
    case conditionFailed
    /// The store writes although the condition does not hold.
    case ignoresConditions
    /// The store cannot be reached, or answered until the deadline that it cannot work.
    case unreachable(String)
    /// The directory of the store is missing.
    case missing
    /// The credentials are wrong, or do not allow the request.
    case denied(String)
    /// The store refused the request.
    case refused(String)
    /// The answer is not one of an S3 store.
    case invalidResponse(String)
    /// The object is larger than the limit.
    case tooLarge
    /// The content is not the one that was written, or changed during the request.
    case damaged
    /// The key cannot be the key of an object in this store.
    case invalidKey
    /// A file of this machine, or of the directory, cannot be read or written.
    case file(String, fix: String = "check the file")
    /// The task was cancelled.
    case cancelled
  }

  package let kind: Kind
  /// The store, or the object, without any secret.
  package let location: String

  package init(_ kind: Kind, _ location: String) {
    (self.kind, self.location) = (kind, location)
  }

  /// One sentence: the object and the reason.
  package var description: String {
    switch kind {
    case .conditionFailed: "\(location) was changed by another writer"
    case .ignoresConditions:
      "\(location) ignores conditional writes (If-None-Match, If-Match), so two writers could overwrite "
        + "each other"
    case .missing: "the directory \(location) does not exist"
    case .unreachable(let reason): "\(location) cannot be reached: \(reason)"
    case .denied(let reason): "access to \(location) was denied: \(reason)"
    case .refused(let reason): "the store refused the request for \(location): \(reason)"
    case .invalidResponse(let reason):
      "the response for \(location) is not one of an S3 store: \(reason)"
    case .tooLarge: "\(location) is larger than the limit"
    case .damaged: "the content of \(location) does not have the recorded digest"
    case .invalidKey: "\(location) is not a valid key in this store"
    case .file(let reason, _): reason
    case .cancelled: "the request for \(location) was cancelled"
    }
  }

  /// The suggested fix.
  package var fix: String {
    switch kind {
    case .conditionFailed: "run again; if it persists, look for another machine that publishes"
    case .ignoresConditions:
      "use a store with conditional writes; for Google Cloud Storage set \"dialect\": \"gcs\""
    case .missing: "mount it, or create it, and run again"
    case .unreachable: "check the endpoint and the network, and run again"
    case .denied: "check the access key and its permissions"
    case .refused: "check the endpoint, the region and the bucket"
    case .invalidResponse: "check the endpoint"
    case .tooLarge: "raise the limit, or remove the object"
    case .damaged: "run again; if it persists, remove the object"
    case .invalidKey: "rename or remove the object"
    case .file(_, let fix): fix
    case .cancelled: "run again"
    }
  }
}

extension ObjectStoreError {
  /// An error of a file; `place` is what may be full or read-only.
  init(_ error: SystemError, _ location: String, of place: String = "the store") {
    let fix =
      error.isFull
      ? "free space in \(place)" : error.isReadOnly ? "make \(place) writable" : "check the file"
    self.init(.file(error.description, fix: fix), location)
  }
}
