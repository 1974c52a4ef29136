import type { Database } from '../platform/db/database.ts'
import { PointRead } from '../platform/db/point-read.ts'
import { statement } from '../platform/db/statement.ts'
import { looksLikeCardId } from './card.ts'

const PARTNERS = statement<{ svc_card_id: string; partner_id: string }>(
  'card_partners',
  'select svc_card_id, partner_id from cards where svc_card_id = any ($1)',
)

/** Whose card it is, for those who stand above the partners: the sandbox's terminal and the operator's command line. */
export function cardPartnerLookup(database: Database): (svcCardId: string) => Promise<string | undefined> {
  const partners = new PointRead<{ svc_card_id: string; partner_id: string }>(
    (keys) => database.operate((tx) => tx.query(PARTNERS, [keys.map(({ id }) => id)])),
    ({ svc_card_id: id }) => ({ tenantId: '', id }),
  )
  return async (svcCardId) =>
    looksLikeCardId(svcCardId) ? (await partners.get('', svcCardId))?.partner_id : undefined
}
