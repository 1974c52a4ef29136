import { ByTenant } from '@svc/kernel/by-tenant'
import { inEachTime, rfc3339, type Timeline } from '@svc/kernel/time'
import { command } from '@svc/platform/command'
import type { BatchTx } from '@svc/platform/db/batch'
import { timeAhead } from '@svc/platform/db/database-time'
import { columns, statement } from '@svc/platform/db/statement'
import { type OutboxEvent, saveEvents } from '@svc/platform/outbox'
import type { CoreServices } from '@svc/platform/services'
import { coinLots } from './allocation.ts'
import { settleDue } from './settle-wallet.ts'
import { activeCoins, type Wallet } from './wallet.ts'
import { lockWallets, type WalletNeed, type Wallets } from './wallet-store.ts'

const DAY_MS = 86_400_000
/** Lots that one query returns at most; the sweep queries again while there are more. */
const LOTS_A_QUERY = 1_000

interface AnnounceCoins {
  readonly partnerId: string
  readonly userId: string
}

interface PreparedAnnouncement extends WalletNeed {
  readonly noticeMs: number
  /** Ahead of the database's time, in milliseconds: lots that expire later are not read. */
  readonly untilMs: number
  readonly eventId: string
  readonly timeZone: string
}

/** A lot with coins left that has not been announced. */
interface OpenLot {
  readonly partnerId: string
  readonly userId: string
  readonly lotId: string
  readonly remaining: bigint
  readonly expiresAt: Date
}

interface AnnounceState {
  readonly wallets: Wallets
  /** By user; soonest to expire first. */
  readonly lots: Map<string, readonly OpenLot[]>
}

interface Announced {
  readonly userId: string
  readonly lots: readonly { readonly partnerId: string; readonly lotId: string; readonly announcedAt: Date }[]
  readonly events: readonly OutboxEvent[]
}

const OPEN_LOTS = statement<OpenLot>(
  'coin_lots_to_announce',
  `select l.partner_id as "partnerId", l.user_id as "userId", l.lot_id as "lotId", l.remaining,
     l.expires_at as "expiresAt"
   from (
     select partner_id, user_id, clock_timestamp() + until_ms * interval '1 millisecond' as until
     from unnest($1::text[], $2::text[], $3::float8[]) as n (partner_id, user_id, until_ms)) w
     join coin_lots l on l.partner_id = w.partner_id and l.user_id = w.user_id
   where l.remaining > 0 and l.announced_at is null and l.expires_at <= w.until
   order by l.expires_at, l.entry`,
)

async function lock(tx: BatchTx, needs: readonly PreparedAnnouncement[]): Promise<ByTenant<AnnounceState>> {
  const wallets = await lockWallets(tx, needs)
  const rows = await tx.query(
    OPEN_LOTS,
    columns(
      needs,
      ({ tenantId }) => tenantId,
      ({ userId }) => userId,
      ({ untilMs }) => untilMs,
    ),
  )
  const lots = new ByTenant(() => new Map<string, readonly OpenLot[]>())
  for (const row of rows) {
    const ofTenant = lots.of(row.partnerId)
    ofTenant.set(row.userId, [...(ofTenant.get(row.userId) ?? []), row])
  }
  return new ByTenant((tenantId) => ({ wallets: wallets.of(tenantId), lots: lots.of(tenantId) }))
}

function decide(state: AnnounceState, args: PreparedAnnouncement, now: Date): Announced {
  const { userId, noticeMs } = args
  const due = (state.lots.get(userId) ?? []).filter(
    ({ expiresAt }) => expiresAt > now && expiresAt.getTime() <= now.getTime() + noticeMs,
  )
  const wallet = state.wallets.get(userId)
  if (!wallet || due.length === 0) return { userId, lots: [], events: [] }
  return {
    userId,
    lots: due.map(({ partnerId, lotId }) => ({ partnerId, lotId, announcedAt: now })),
    events: [expiringEvent(wallet, due, args, now)],
  }
}

const expiringEvent = (
  wallet: Wallet,
  lots: readonly OpenLot[],
  { tenantId, userId, eventId, timeZone }: PreparedAnnouncement,
  now: Date,
): OutboxEvent => ({
  eventId,
  tenantId,
  type: 'coins.expiring',
  objectId: userId,
  payload: {
    userId,
    amount: Number(lots.reduce((sum, { remaining }) => sum + remaining, 0n)),
    allocations: lots.map(({ lotId, remaining, expiresAt }) => ({
      allocationId: lotId,
      amount: Number(remaining),
      expiresOn: rfc3339(expiresAt, timeZone),
    })),
    balance: Number(activeCoins(settleDue(wallet, now, timeZone).wallet)),
  },
  createdAt: now,
})

const markAnnounced = coinLots.updates(['announcedAt'], 'announce')

/** Announces what remains of a user's lots that expire within `COIN_EXPIRY_NOTICE_DAYS`, each lot once (decision K9). */
const announceCoins = command({
  name: 'announceCoins',

  prepare:
    ({ clock, config, newId }) =>
    ({ partnerId, userId }: AnnounceCoins): PreparedAnnouncement => {
      const time = clock.of(partnerId)
      const noticeMs = config.COIN_EXPIRY_NOTICE_DAYS * DAY_MS
      return {
        tenantId: partnerId,
        userId,
        coins: 0n,
        clockOffsetMs: time.offsetMs(),
        noticeMs,
        untilMs: time.offsetMs() + noticeMs,
        eventId: newId('evt'),
        timeZone: config.BUSINESS_TIME_ZONE,
      }
    },

  lock,
  decide,
  apply: ({ lots }, { userId }) => void lots.delete(userId),
  save(tx, decisions) {
    markAnnounced(
      tx,
      decisions.flatMap(({ lots }) => lots),
    )
    saveEvents(
      tx,
      decisions.flatMap(({ events }) => events),
    )
  },
})

const DUE = statement<AnnounceCoins>(
  'directory_coins_expiring',
  `select partner_id as "partnerId", user_id as "userId"
   from directory_coins_expiring(${timeAhead(1)}, ${timeAhead(2)}, $3, $4)`,
)

/** Publishes `coins.expiring`; returns how many users had coins to announce. */
export const announceExpiringCoins = async (
  services: CoreServices,
  stopping?: AbortSignal,
): Promise<number> =>
  services.config.COIN_EXPIRY_NOTICE_DAYS === 0
    ? 0
    : inEachTime(services.clock, (timeline) => announceIn(services, timeline, stopping))

async function announceIn(
  { commands, config, database }: CoreServices,
  { tenantIds, clock }: Timeline,
  stopping: AbortSignal | undefined,
): Promise<number> {
  const announce = commands.open(announceCoins)
  const swept = new ByTenant(() => new Set<string>())
  let users = 0
  while (!stopping?.aborted) {
    const aheadMs = clock.offsetMs()
    const untilMs = aheadMs + config.COIN_EXPIRY_NOTICE_DAYS * DAY_MS
    const due = await database.directory(DUE, [aheadMs, untilMs, LOTS_A_QUERY, tenantIds])
    // A user is due again only when the database's clock was set back: the next sweep will do.
    const fresh = due.filter(({ partnerId, userId }) => !swept.of(partnerId).has(userId))
    if (fresh.length === 0) break
    await Promise.all(fresh.map((user) => announce.run(user)))
    for (const { partnerId, userId } of fresh) swept.of(partnerId).add(userId)
    users += fresh.length
  }
  return users
}
