import { BatchedLookup } from '@svc/platform/db/batched-lookup'
import type { Database, Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { type CardKey, looksLikeCardId } from './card.ts'

const PARTNERS = statement<CardKey>(
  'card_partners',
  'select svc_card_id as "svcCardId", partner_id as "partnerId" from cards where svc_card_id = any ($1)',
)

const TOKENS = statement<{ svcCardId: string; token: string }>(
  'card_tokens',
  'select svc_card_id as "svcCardId", token from cards where svc_card_id = any ($1)',
)

/** Whether a card is of the partner. */
export const isCardOf = async (tx: Tx, partnerId: string, svcCardId: string): Promise<boolean> =>
  looksLikeCardId(svcCardId) &&
  (await tx.query(PARTNERS, [[svcCardId]])).some((card) => card.partnerId === partnerId)

/** Under which reference the card network knows a card: for the sandbox, which plays it. */
export const cardTokenLookup =
  (database: Database) =>
  async (svcCardId: string): Promise<string | undefined> =>
    looksLikeCardId(svcCardId)
      ? (await database.operate((tx) => tx.query(TOKENS, [[svcCardId]])))[0]?.token
      : undefined

/** Whose card it is, for those who stand above the partners: the sandbox's terminal and operators. */
export function cardPartnerLookup(database: Database): (svcCardId: string) => Promise<string | undefined> {
  const partners = new BatchedLookup<CardKey>(
    (keys) => database.operate((tx) => tx.query(PARTNERS, [keys.map(({ id }) => id)])),
    ({ svcCardId: id }) => ({ tenantId: '', id }),
  )
  return async (svcCardId) =>
    looksLikeCardId(svcCardId) ? (await partners.get('', svcCardId))?.partnerId : undefined
}
