/** A part of the service that works beside its requests. Stopping waits for the work in progress. */
export interface Part {
  start(): void
  stop(): Promise<void>
}

export const stopAll = (parts: readonly Part[]) => Promise.all(parts.map((part) => part.stop()))
