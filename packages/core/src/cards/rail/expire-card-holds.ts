import { paise } from '@svc/kernel/money'
import { inEachTime, type Timeline } from '@svc/kernel/time'
import { timeAhead, transactionTime } from '@svc/platform/db/database-time'
import { columns, statement } from '@svc/platform/db/statement'
import { Loop } from '@svc/platform/loop'
import { saveEvents } from '@svc/platform/outbox'
import type { CoreServices } from '@svc/platform/services'
import type { CardKey } from '../card/card.ts'
import { wakeEnded } from '../end/card-end-state.ts'
import {
  type CardAuthorization,
  cardAuthorizations,
  holdExpiredEvent,
  updateAuthorizations,
} from './card-authorization.ts'

const EVERY_MS = 1_000
const CARDS_A_SWEEP = 500

const DUE = statement<CardKey>(
  'directory_card_holds_expired',
  `select partner_id as "partnerId", svc_card_id as "svcCardId"
   from directory_card_holds_expired(${timeAhead(1)}, $2, $3)`,
)
// The card's row serializes messages and the expiry of its holds. Cards that a message holds wait for the next sweep.
const LOCK = statement<CardKey>(
  'card_holds_expired_lock',
  `select c.partner_id as "partnerId", c.svc_card_id as "svcCardId" from cards c
   where (c.partner_id, c.svc_card_id) in (select * from unnest($1::text[], $2::text[]))
   order by c.svc_card_id for no key update skip locked`,
)
const EXPIRED = statement<CardAuthorization>(
  'card_holds_expired',
  `select ${cardAuthorizations.columns} from card_authorizations a
   where (a.partner_id, a.svc_card_id) in (select * from unnest($1::text[], $2::text[]))
     and a.status = 'OPEN' and a.expires_at <= $3
   order by a.partner_id, a.authorization_id`,
)

const keysOf = (cards: readonly CardKey[]) =>
  columns(
    cards,
    (card) => card.partnerId,
    (card) => card.svcCardId,
  )

/**
 * Releases holds whose time has passed, each with its event, under the lock of the card. Returns how many, at least 1 while
 * any is due: another process may have it in hand.
 */
export const expireCardHolds = (services: CoreServices): Promise<number> =>
  inEachTime(services.clock, (timeline) => releaseExpired(services, timeline))

async function releaseExpired(
  { config, database, newId }: CoreServices,
  { tenantIds, clock }: Timeline,
): Promise<number> {
  const due = await database.directory(DUE, [clock.offsetMs(), CARDS_A_SWEEP, tenantIds])
  if (due.length === 0) return 0
  return database.write(
    due.map((card) => card.partnerId),
    async (tx) => {
      const locked = await tx.query(LOCK, keysOf(due))
      const now = await transactionTime(tx, clock)
      const open = await tx.query(EXPIRED, [...keysOf(locked), now])
      updateAuthorizations(
        tx,
        open.map((held) => ({ ...held, heldPaise: paise(0n), status: 'EXPIRED', closedAt: now })),
      )
      wakeEnded(
        tx,
        open.map(({ partnerId, svcCardId }) => ({ partnerId, svcCardId, at: now })),
      )
      saveEvents(
        tx,
        open.map((held) =>
          holdExpiredEvent(held, held.heldPaise, newId('evt'), now, config.BUSINESS_TIME_ZONE),
        ),
      )
      return Math.max(open.length, 1)
    },
  )
}

/** Releases expired holds of every partner's cards. */
export const expireCardHoldsLoop = (services: CoreServices): Loop =>
  new Loop(
    {
      name: 'expire_card_holds',
      everyMs: EVERY_MS,
      work: async () => (await expireCardHolds(services)) >= CARDS_A_SWEEP,
      atStart: true,
    },
    services,
  )
