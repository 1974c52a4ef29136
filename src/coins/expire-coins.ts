import type { CommandSpec } from '../platform/db/batch.ts'
import { Lane } from '../platform/db/lane.ts'
import { statement } from '../platform/db/statement.ts'
import type { Services } from '../platform/http/operation.ts'
import { expireDue, type Wallet, type WalletChange } from './wallet.ts'
import {
  lockCoinAccounts,
  lockWallets,
  saveWalletChanges,
  type WalletNeed,
  walletKey,
} from './wallet-store.ts'

const EVERY_MS = 60_000
/** Lots that one look asks for at most; the sweep looks again while there are more. */
const LOTS_A_LOOK = 1_000

const DUE = statement<{ partner_id: string; user_id: string }>(
  'directory_coins_due',
  'select partner_id, user_id from directory_coins_due($1, $2)',
)

/**
 * Expires coins that nobody asks for. Balances and redemptions never wait for it: they count coins past their time as
 * gone already. It brings the books and the history up to that, and tells of it by event.
 */
export class CoinSweep {
  readonly #services: Services
  readonly #lane: Lane<WalletNeed, Map<string, Wallet>, WalletChange>
  #timer: NodeJS.Timeout | undefined
  #sweeping: Promise<number> | undefined
  #closed = false

  constructor(services: Services) {
    this.#services = services
    this.#lane = new Lane(EXPIRE, services.lanes)
    services.lanes.open.add(this.#lane)
  }

  start(): void {
    const { log } = this.#services
    this.#timer = setInterval(() => {
      this.sweep().catch((error: unknown) =>
        log.warn({ err: error }, 'expiring coins failed; it will be tried again'),
      )
    }, EVERY_MS)
    this.#timer.unref()
  }

  /** Expires all that is due now; answers how many users had such coins. One sweep at a time. */
  sweep(): Promise<number> {
    this.#sweeping ??= this.#sweepAll().finally(() => (this.#sweeping = undefined))
    return this.#sweeping
  }

  async #sweepAll(): Promise<number> {
    const { database, clock } = this.#services
    const swept = new Set<string>()
    while (!this.#closed) {
      const due = await database.directory(DUE, [new Date(clock.now()), LOTS_A_LOOK])
      // A user comes up again only when the database's clock is behind ours: the next sweep will do.
      const fresh = due.filter(({ user_id: userId }) => !swept.has(userId))
      if (fresh.length === 0) break
      await Promise.all(
        fresh.map(({ partner_id: tenantId, user_id: userId }) =>
          this.#lane.submit({ tenantId, userId, coins: 0n, clockOffsetMs: clock.offsetMs() }),
        ),
      )
      for (const { user_id: userId } of fresh) swept.add(userId)
    }
    return swept.size
  }

  async close(): Promise<void> {
    this.#closed = true
    clearInterval(this.#timer)
    await this.#sweeping?.catch(() => undefined)
  }
}

const EXPIRE: CommandSpec<WalletNeed, Map<string, Wallet>, WalletChange> = {
  name: 'expireCoins',
  async lock(tx, needs) {
    const wallets = await lockWallets(tx, needs)
    await lockCoinAccounts(tx, wallets, undefined)
    return wallets
  },
  decide: (wallets, { tenantId, userId }, now) => expireDue(wallets.get(walletKey(tenantId, userId))!, now),
  apply: (wallets, { wallet }) => void wallets.set(walletKey(wallet.partnerId, wallet.userId), wallet),
  save: (tx, changes) =>
    saveWalletChanges(
      tx,
      changes.filter(({ entries }) => entries.length > 0),
    ),
  answer: () => ({ status: 200, body: '' }),
}
