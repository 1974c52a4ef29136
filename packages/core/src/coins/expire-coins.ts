import { ByTenant } from '@svc/kernel/by-tenant'
import { inEachTime, type Timeline } from '@svc/kernel/time'
import { command } from '@svc/platform/command'
import { timeAhead } from '@svc/platform/db/database-time'
import { statement } from '@svc/platform/db/statement'
import { Loop } from '@svc/platform/loop'
import type { CoreServices } from '@svc/platform/services'
import { announceExpiringCoins } from './announce-coins.ts'
import { settleDue } from './settle-wallet.ts'
import type { WalletChange } from './wallet.ts'
import { lockCoinAccounts, lockWallets, saveWalletChanges, type WalletNeed } from './wallet-store.ts'

const EVERY_MS = 60_000
/** Lots that one query returns at most; the sweep queries again while there are more. */
const LOTS_A_QUERY = 1_000

interface ExpireCoins {
  readonly partnerId: string
  readonly userId: string
}

interface PreparedExpiry extends WalletNeed {
  readonly timeZone: string
}

interface Expired {
  readonly change: WalletChange
  readonly timeZone: string
}

/** Activates a user's pending lots whose time has come, and writes off what remains of those past it (K9, K10). */
export const expireCoins = command({
  name: 'expireCoins',

  prepare:
    ({ clock, config }) =>
    ({ partnerId, userId }: ExpireCoins): PreparedExpiry => ({
      tenantId: partnerId,
      userId,
      coins: 0n,
      clockOffsetMs: clock.of(partnerId).offsetMs(),
      timeZone: config.BUSINESS_TIME_ZONE,
    }),

  async lock(tx, needs) {
    const wallets = await lockWallets(tx, needs)
    await lockCoinAccounts(tx, needs, wallets)
    return wallets
  },
  decide: (wallets, { userId, timeZone }, now): Expired => ({
    change: settleDue(wallets.get(userId)!, now, timeZone),
    timeZone,
  }),
  apply: (wallets, { change: { wallet } }) => void wallets.set(wallet.userId, wallet),
  save: (tx, decisions) =>
    saveWalletChanges(
      tx,
      decisions[0]!.timeZone,
      decisions.map(({ change }) => change).filter(({ entries }) => entries.length > 0),
    ),
})

const DUE = statement<ExpireCoins>(
  'directory_coins_due',
  `select partner_id as "partnerId", user_id as "userId" from directory_coins_due(${timeAhead(1)}, $2, $3)`,
)

/**
 * Activates and expires coins whose time has come; returns how many users had such coins. Balances and redemptions do
 * not depend on it. It brings ledger and history up to date, and publishes `coins.activated` and `coins.expired`.
 */
export const expireDueCoins = (services: CoreServices, stopping?: AbortSignal): Promise<number> =>
  inEachTime(services.clock, (timeline) => expireDueIn(services, timeline, stopping))

async function expireDueIn(
  { commands, database }: CoreServices,
  { tenantIds, clock }: Timeline,
  stopping: AbortSignal | undefined,
): Promise<number> {
  const expire = commands.open(expireCoins)
  const swept = new ByTenant(() => new Set<string>())
  let users = 0
  while (!stopping?.aborted) {
    const due = await database.directory(DUE, [clock.offsetMs(), LOTS_A_QUERY, tenantIds])
    // A user is due again only when the database's clock was set back: the next sweep will do.
    const fresh = due.filter(({ partnerId, userId }) => !swept.of(partnerId).has(userId))
    if (fresh.length === 0) break
    await Promise.all(fresh.map((user) => expire.run(user)))
    for (const { partnerId, userId } of fresh) swept.of(partnerId).add(userId)
    users += fresh.length
  }
  return users
}

/** Activates, announces and expires coins of every partner. */
export const expireCoinsLoop = (services: CoreServices): Loop => {
  const loop: Loop = new Loop(
    {
      name: 'expire_coins',
      everyMs: EVERY_MS,
      async work() {
        // Coins that became active just now may expire soon.
        await expireDueCoins(services, loop.stopping)
        await announceExpiringCoins(services, loop.stopping)
      },
    },
    services,
  )
  return loop
}
