import type { Config } from '@svc/contract/config'
import type { RandomBytes } from '@svc/kernel/ids'
import type { Clock } from '@svc/kernel/time'
import type { EnterQueue } from '@svc/platform/command'
import type { KeyProvider } from '@svc/platform/crypto/key-provider'
import type { MasterKeys } from '@svc/platform/crypto/master-keys'
import type { DatabaseAddress } from '@svc/platform/db/connection-options'
import type { ConnectionClass } from '@svc/platform/db/database'
import type { Log } from '@svc/platform/log'
import type { Tracing } from '@svc/platform/tracing'

export interface AppOptions {
  readonly config: Config
  readonly address: DatabaseAddress
  readonly masterKeys: MasterKeys
  /** Where they come from; they are requested again while the service runs. */
  readonly keyProvider?: KeyProvider
  /** For a new database, which needs one. */
  readonly rsaKey?: Promise<Buffer>
  readonly log: Log
  readonly clock?: Clock
  readonly random?: RandomBytes
  /** How connections to the database are made; the simulation gives its own. */
  readonly Client?: ConnectionClass
  /** Decides when commands enter their queues; a capsule gives one. */
  readonly enterQueue?: EnterQueue
  readonly tracing?: Tracing | undefined
  /** Of a worker: what reports the metrics of all of them. */
  readonly metricsOfAll?: ((own: () => Promise<string>) => () => Promise<string>) | undefined
}
