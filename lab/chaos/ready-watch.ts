import { setTimeout as sleep } from 'node:timers/promises'
import type { Member } from './members.ts'

/** Promise N11. */
export const READY_MS_MAX = 2_000

const POLL_MS = 50
/** A 200 so long before a primary was seen to accept writes may come from a commit there. */
const GRACE_MS = 1_000

/** Keeps when `/readyz` of which process said 200, from the moment at which it was asked. */
export class ReadyWatch {
  readonly #said = new Map<Member, number[]>()
  readonly #watching: Promise<unknown>
  #stopped = false

  constructor(members: readonly Member[]) {
    this.#watching = Promise.all(members.map((member) => this.#watch(member)))
  }

  async #watch(member: Member): Promise<void> {
    const said: number[] = []
    this.#said.set(member, said)
    for (; !this.#stopped; await sleep(POLL_MS)) {
      const askedMs = performance.now()
      if (await member.isReady()) said.push(askedMs)
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await this.#watching
  }

  /** For how long, at most, a process said 200 while nothing could be committed, and how often two seconds into that. */
  within(lostMs: number, foundMs: number): { longestMs: number; late: number } {
    const wrong = [...this.#said.values()]
      .flat()
      .filter((atMs) => atMs > lostMs && atMs < foundMs - GRACE_MS)
      .map((atMs) => atMs - lostMs)
    return { longestMs: Math.max(0, ...wrong), late: wrong.filter((ms) => ms > READY_MS_MAX).length }
  }
}
