/** Connections of one pool for operators: for their transactions, and as many for batches with their commands. */
export const operatorConnections = (poolSize: number): number => Math.max(2, Math.floor(poolSize / 4))

/** Attempts of the process to see whether the database commits: one may be stuck in a connection that fell silent. */
export const WATCH_CONNECTIONS = 2

const RAIL_COMMANDS = 8

/** Connections of batches with what rails signed, of which each command has one in progress at a time. */
export const railConnections = (poolSize: number): number => Math.min(poolSize, RAIL_COMMANDS)

/**
 * The most connections that a process has to the primary: requests, one in the background, those that watch whether it
 * commits, those for rails, both pools for operators.
 */
export const connectionsMax = (poolSize: number): number =>
  poolSize + 1 + WATCH_CONNECTIONS + railConnections(poolSize) + 2 * operatorConnections(poolSize)
