import Bundles
import SmartStore
import System

/// Packs the snapshot of a `PackFleet`, verifies its bundles or seals its stores, in a separate
/// process.
struct PackChild {
  private let options: BenchOptions
  private var fleet: PackFleet { PackFleet(directory: options.directory) }

  init(_ options: BenchOptions) { self.options = options }

  /// The stage, as in a run: both platforms' bundles.
  func pack() async throws -> Measurement {
    var result = Measurement()
    result.arm = "pack"
    let start = Clock.monotonicNanoseconds()
    let bytes = try await fleet.pack()
    result.end(start)
    result.bytes = Int(bytes)
    return result
  }

  /// The work of `attache bundle verify` on both bundles, one after the other.
  func verify() throws -> Measurement {
    var result = Measurement()
    result.arm = "verify"
    let start = Clock.monotonicNanoseconds()
    for bundle in fleet.bundles(try format()) {
      result.bytes += try Int(BundleReader.verify(bundle).stores.reduce(0) { $0 + $1.bytes })
    }
    result.end(start)
    return result
  }

  /// Sealing both stores, one after the other, with IVs and a salt derived from a seed, as in a
  /// bundle.
  func seal() throws -> Measurement {
    let key = try SQLCipherKey(passphrase: Secret("a passphrase of the bench"))
    let stores = try fleet.stores()
    let sealed = try fleet.emptyPlace()
    defer { try? Files.remove(sealed) }
    var result = Measurement()
    result.arm = "seal"
    let start = Clock.monotonicNanoseconds()
    for (number, store) in stores.enumerated() {
      let target = "\(sealed)/\(number).db"
      try SQLCipherFile.seal(
        store, to: target, key: key,
        randomness: .derived(seed: key.seed([1, 2, 3], context: ["\(number)"])))
      result.bytes += try Int(Files.size(of: target))
    }
    result.end(start)
    return result
  }

  private func format() throws -> BundleFormat {
    guard let format = options.format else { throw BenchFailure("--format is missing") }
    return format
  }
}
