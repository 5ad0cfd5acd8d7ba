import Bundles
import System

/// The same work by libarchive and libcrypto alone: `Benchmarks/bundle_floors.c`.
struct PackFloors {
  private let program: FloorProgram
  private let fleet: PackFleet

  /// Compiles the program.
  init(_ fleet: PackFleet, _ options: BenchOptions) throws {
    self.fleet = fleet
    program = try FloorProgram(
      "bundle_floors", libraries: ["archive", "crypto"], in: options.directory)
  }

  /// Runs the floor of an arm.
  func run(_ arm: PackArm) throws -> Measurement {
    let place = try fleet.emptyPlace()
    defer { try? Files.remove(place) }
    func targets() throws -> [String] {
      try fleet.stores().enumerated().flatMap { ["\(place)/\($0.offset)", $0.element] }
    }
    switch arm.work {
    case .pack: return try program.run(["write", arm.format?.rawValue ?? ""] + targets())
    case .verify:
      return try program.run(["read"] + (arm.format.map { fleet.bundles($0) } ?? []))
    case .seal: return try program.run(["seal"] + targets())
    }
  }
}
