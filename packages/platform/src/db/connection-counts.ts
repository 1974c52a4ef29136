/** Connections of one pool for operators: for their transactions, and as many for batches with their commands. */
export const operatorConnections = (poolSize: number): number => Math.max(2, Math.floor(poolSize / 4))

/** The most connections that a process has to the primary: requests, one in the background, both pools for operators. */
export const connectionsMax = (poolSize: number): number => poolSize + 1 + 2 * operatorConnections(poolSize)
