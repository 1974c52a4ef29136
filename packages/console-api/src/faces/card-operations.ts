import { fail } from '@svc/contract/errors'
import { CardRecord, cardFormOf, toCardRecord } from '@svc/core/cards/card/card-record'
import { cardMoves, kycMoves } from '@svc/core/cards/card/card-states'
import { readCardViews } from '@svc/core/cards/card/card-view'
import { cardPartnerLookup } from '@svc/core/cards/card/find-card-partner'
import { accountId } from '@svc/core/ledger/accounts'
import { formatRupees } from '@svc/kernel/money'
import { rfc3339 } from '@svc/kernel/time'
import type { Database } from '@svc/platform/db/database'
import { card, type ListedCard } from '@svc/server/cards/card-resource'
import { type CardChange, cardChange } from '@svc/server/cards/list-card-changes'
import { query } from '@svc/server/http/operation'
import { listOf, readRecords, recordOf } from '@svc/server/http/resource'
import { Type } from 'typebox'
import {
  CONSOLE_API,
  consoleOperation,
  idParam,
  instant,
  record,
  rupeesText,
  text,
} from '../console-schema.ts'
import { mayReveal } from '../records/reveals.ts'
import { newestTransfers, TransferRecord } from './ledger-operations.ts'

const TAG = 'Cards'
export const CARDS = `${CONSOLE_API}/cards`
const params = idParam('svcCardId')

const SHOWN = 100

/** Whose card it is. Throws `card_not_found`. */
export const requireCardPartner = async (database: Database, svcCardId: string): Promise<string> =>
  (await cardPartnerLookup(database)(svcCardId)) ?? fail('card_not_found')

export const listCards = listOf<ListedCard>(card, {
  ...consoleOperation,
  id: 'console.listCards',
  path: CARDS,
  tag: TAG,
  summary: 'List cards of all partners',
  permission: 'view',
  reveals: mayReveal,
})

export const showCard = query({
  ...consoleOperation,
  id: 'console.showCard',
  method: 'GET',
  path: `${CARDS}/:svcCardId`,
  tag: TAG,
  summary: 'Show card: record, history, ledger entries',
  permission: 'view',
  params,
  result: record('CardDetail', {
    partnerId: text(),
    card: CardRecord,
    createdOn: instant,
    balance: rupeesText,
    moves: Type.Array(text(), { description: 'Statuses that it may be given now' }),
    kycMoves: Type.Array(text(), { description: 'States that its KYC may be moved to now' }),
    changes: Type.Array(recordOf<CardChange>(cardChange, 'operator'), {
      description: 'The newest 100, newest first',
    }),
    ledgerAccountId: text(),
    transfers: Type.Array(TransferRecord, { description: 'The newest 100, newest first' }),
  }),
  errors: ['card_not_found'],
  mount({ clock, config, database }) {
    const timeZone = config.BUSINESS_TIME_ZONE
    return async ({ params: { svcCardId } }) => {
      const partnerId = await requireCardPartner(database, svcCardId)
      const ledgerAccountId = accountId('card', svcCardId)
      const detail = await database.operate(async (tx) => {
        const wanted = { partnerId, svcCardId, at: new Date(clock.of(partnerId).now()) }
        const [view] = await readCardViews(tx, [wanted], timeZone)
        const { card: found, balancePaise } = view ?? fail('card_not_found')
        const scope = { reader: 'operator', tenantId: partnerId } as const
        const newest = { svcCardId, limit: SHOWN, uncounted: true }
        return {
          partnerId,
          card: toCardRecord(view!, cardFormOf(config)),
          createdOn: rfc3339(found.createdAt, timeZone),
          balance: formatRupees(balancePaise),
          // A physical card is unlocked by its activation.
          moves: cardMoves(found.status).filter((to) => found.status !== 'AP' || to !== 'UL'),
          kycMoves: kycMoves(found.kycStatus),
          changes: (await readRecords<CardChange>(tx, cardChange, scope, newest, timeZone)).data,
          ledgerAccountId,
          transfers: await newestTransfers(tx, ledgerAccountId, SHOWN, timeZone),
        }
      })
      return { body: JSON.stringify(detail) }
    }
  },
})
