import type { Secret } from '@svc/kernel/secret'
import { Loop, type LoopTools } from '../loop.ts'
import { MasterKeys } from './master-keys.ts'

/** Where the master keys come from. */
export interface KeyProvider {
  /** In words for people. */
  readonly name: string
  /** Each 32 bytes in base64; the first wraps, all unwrap. Throws `KeyProviderFailed`. */
  masterKeys(): Promise<readonly Secret[]>
  /** How often a running service requests the keys again, in milliseconds; absent where nothing can fail. */
  readonly checkMs?: number
}

/** The master keys cannot be had. Its message is for operators; it has addresses, but no secret. */
export class KeyProviderFailed extends Error {
  override name = 'KeyProviderFailed'
  /** What any caller may read of it, such as callers of `/readyz`. */
  readonly summary: string

  constructor(message: string, summary: string, cause?: unknown) {
    super(message, { cause })
    this.summary = summary
  }
}

/** The keys of the setting, whose value came from the environment or from a file. */
export const givenKeys = (keys: readonly Secret[]): KeyProvider => ({
  name: 'SVC_MASTER_KEY',
  masterKeys: async () => keys,
})

/**
 * Requests the keys again while the service runs. A failure stops nothing, since the keys are in memory, but the
 * process could not start again: the log and `/readyz` say so.
 */
export class KeyProviderWatch {
  readonly loop: Loop | undefined
  #failure: string | undefined

  constructor(provider: KeyProvider | undefined, { ids }: MasterKeys, tools: LoopTools) {
    if (provider?.checkMs === undefined) return
    const work = () => this.#check(provider, ids)
    this.loop = new Loop({ name: 'key_provider', everyMs: provider.checkMs, work }, tools)
  }

  /** What an operator should fix. */
  get warnings(): readonly string[] {
    if (this.#failure === undefined) return []
    return [`The service runs, but could not start again: ${this.#failure}; the log has details`]
  }

  async #check(provider: KeyProvider, ids: readonly string[]): Promise<void> {
    try {
      const now = new MasterKeys(await provider.masterKeys()).ids
      if (now.join() !== ids.join())
        throw new KeyProviderFailed(
          `${provider.name} has other master keys than the service runs with`,
          'the key provider has other master keys',
        )
      this.#failure = undefined
    } catch (error) {
      this.#failure = error instanceof KeyProviderFailed ? error.summary : 'the key provider fails'
      throw error
    }
  }
}
