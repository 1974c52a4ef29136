/** The state of a commit queue. */
export interface CommitQueueState {
  readonly name: string
  /** Commands that wait for a batch. */
  readonly queued: number
  /** Of these, those that wait for rows which others hold. */
  readonly held: number
  /** Commands of the batch under way. */
  readonly inFlight: number
  /** How long the batch under way has had no outcome; 0 where there is none. */
  readonly batchAgeMs: number
}

export interface OpenCommitQueue extends CommitQueueState {
  drain(): Promise<void>
}
