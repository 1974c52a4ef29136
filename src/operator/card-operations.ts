import { Type } from 'typebox'
import { CardRecord } from '../cards/card-record.ts'
import { CARD_STATUS_LABELS } from '../cards/card-states.ts'
import { REASON_CHARS_MAX } from '../cards/change-card-status.ts'
import { CardChangeRecord } from '../cards/list-card-changes.ts'
import { query } from '../platform/http/operation.ts'
import { refundAtTerminal, spendAtTerminal } from '../sandbox/card-terminal.ts'
import {
  BY_TIME,
  CONSOLE_API,
  closed,
  consoleOperation,
  createdRange,
  exact,
  idParam,
  instant,
  listOf,
  listQuery,
  maybe,
  oneOf,
  record,
  rupeesText,
  text,
} from './console-schema.ts'
import { later } from './later.ts'
import { TransferRecord } from './ledger-operations.ts'

const TAG = 'Cards'
const PATH = `${CONSOLE_API}/cards`
const params = idParam('svcCardId')

const CardRow = record('CardRow', {
  svcCardId: text(),
  maskedNumber: text(),
  partnerId: text(),
  companyId: text(),
  companyName: text(),
  cardAccountId: text(),
  userId: text(),
  holderName: maybe(),
  status: Type.Enum(Object.keys(CARD_STATUS_LABELS)),
  physical: Type.Boolean(),
  load: rupeesText,
  balance: rupeesText,
  expires: text('`MM/YYYY`'),
  createdOn: instant,
})

export const listCards = query({
  ...consoleOperation,
  id: 'listCards',
  method: 'GET',
  path: PATH,
  tag: TAG,
  summary: 'List cards of all partners',
  role: 'viewer',
  query: listQuery(BY_TIME, {
    q: exact('Id of the card or of its holder, or the holder’s whole mobile number or e-mail address', 254),
    partnerId: exact('Of this partner'),
    companyId: exact('Of this company; needs `partnerId`'),
    cardAccountId: exact('Of this card account'),
    userId: exact('Of this user'),
    status: oneOf(Object.keys(CARD_STATUS_LABELS), 'Only these'),
    ...createdRange,
  }),
  result: listOf(CardRow),
  errors: [],
  mount: later,
})

export const showCard = query({
  ...consoleOperation,
  id: 'showCard',
  method: 'GET',
  path: `${PATH}/:svcCardId`,
  tag: TAG,
  summary: 'Show card: record, history, ledger entries',
  role: 'viewer',
  params,
  result: record('CardDetail', {
    partnerId: text(),
    card: CardRecord,
    balance: rupeesText,
    moves: Type.Array(text(), { description: 'Statuses that it may be given now' }),
    changes: Type.Array(CardChangeRecord, { description: 'The newest 100, newest first' }),
    ledgerAccountId: text(),
    transfers: Type.Array(TransferRecord, { description: 'The newest 100, newest first' }),
  }),
  errors: ['card_not_found'],
  mount: later,
})

export const changeCardStatusInConsole = query({
  ...consoleOperation,
  id: 'changeCardStatus',
  method: 'POST',
  path: `${PATH}/:svcCardId/status`,
  tag: TAG,
  summary: 'Lock, unlock or block card',
  role: 'operator',
  params,
  body: closed({
    status: Type.Enum(['L', 'UL', 'BL']),
    reason: Type.String({
      minLength: 1,
      maxLength: REASON_CHARS_MAX,
      pattern: '\\S',
      'x-rule': `must have 1 to ${REASON_CHARS_MAX} characters, not only spaces`,
      description: 'Kept in the history, shown to the partner as `remarks`',
    }),
  }),
  result: CardRecord,
  errors: ['card_not_found', 'invalid_transition'],
  mount: later,
})

export const spendFromCard = query({
  ...consoleOperation,
  id: 'spendFromCard',
  method: 'POST',
  path: `${PATH}/:svcCardId/spend`,
  tag: TAG,
  summary: 'Spend from card (sandbox)',
  role: 'operator',
  sandboxOnly: true,
  params,
  body: spendAtTerminal.body!,
  result: spendAtTerminal.result,
  errors: spendAtTerminal.errors,
  mount: later,
})

export const refundToCard = query({
  ...consoleOperation,
  id: 'refundToCard',
  method: 'POST',
  path: `${PATH}/:svcCardId/refund`,
  tag: TAG,
  summary: 'Refund to card (sandbox)',
  role: 'operator',
  sandboxOnly: true,
  params,
  body: refundAtTerminal.body!,
  result: refundAtTerminal.result,
  errors: refundAtTerminal.errors,
  mount: later,
})
