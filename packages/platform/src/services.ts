import type { JweKey } from '@svc/jwe/keys'
import type { Clock } from '@svc/kernel/time'
import type { Commands, CommandTools } from './command.ts'
import type { CommitQueueServices } from './db/commit-queue.ts'
import type { BoundedWaits } from './deadlines.ts'
import type { Metrics } from './metrics.ts'

/** Everything that is not pure and that the product works with: no transport is among it. */
export interface CoreServices extends CommandTools {
  readonly clock: Clock
  readonly metrics: Metrics
  readonly queues: CommitQueueServices
  readonly commands: Commands
  /** Waits of callers, which end at their deadline. */
  readonly waits: BoundedWaits
  /** Address at which callers reach the service; the issuer of its tokens. */
  readonly publicUrl: () => string
  readonly jwes: JweKeys
}

/** Where the keys of encrypted bodies come from. */
export interface JweKeys {
  /** The published key, or the partner's own shared key, of this id. */
  openingKey(tenantId: string, kid: string): Promise<JweKey | undefined>
  /** The key to which responses for this partner are encrypted, when its request was encrypted with this one. */
  encryptionKey(tenantId: string, requestKid: string | undefined): Promise<JweKey | undefined>
  /** Sandbox only: whether the partner's requests may come without encryption. */
  acceptsPlain(tenantId: string): Promise<boolean>
}
