import { fail } from '@svc/contract/errors'
import { type CardException, CardExceptionRecord, exceptionToWire } from '@svc/core/cards/rail/card-exception'
import { cardMessages, type StoredMessage } from '@svc/core/cards/rail/card-message'
import { formatRupees } from '@svc/kernel/money'
import { rfc3339 } from '@svc/kernel/time'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { cardException } from '@svc/server/cards/card-exceptions'
import { query } from '@svc/server/http/operation'
import { findRow, listOf } from '@svc/server/http/resource'
import { Type } from 'typebox'
import {
  CONSOLE_API,
  consoleOperation,
  idParam,
  instant,
  maybe,
  record,
  rupeesText,
  text,
} from '../console-schema.ts'

const TAG = 'Cards'
const PATH = `${CONSOLE_API}/card-exceptions`

export const listCardExceptions = listOf<CardException>(cardException, {
  ...consoleOperation,
  id: 'console.listCardExceptions',
  path: PATH,
  tag: TAG,
  summary: 'List exceptions of the card rail',
  description:
    'Messages of the card network that could not be read, and money that fits no card, authorisation or capture.',
  permission: 'finance',
})

const NetworkMessage = record('CardNetworkMessage', {
  messageId: text(),
  type: text('Such as `capture`'),
  amount: Type.Optional(rupeesText),
  debited: text('Rupees that the message took from the card'),
  credited: text('Rupees that the message gave back to the card'),
  acquirerId: text(),
  stan: text('System trace audit number of the acquirer'),
  transmittedOn: instant,
  rrn: maybe('Retrieval reference number'),
  merchantName: maybe(),
  merchantPlace: maybe(),
  channel: maybe(),
  authorizationId: maybe(),
  captureId: maybe(),
  responseCode: text('ISO 8583, field 39'),
})

const messageToWire = (message: StoredMessage, timeZone: string) => ({
  messageId: message.messageId,
  type: message.type,
  amount: message.amountPaise === null ? undefined : formatRupees(message.amountPaise),
  debited: formatRupees(message.debitedPaise),
  credited: formatRupees(message.creditedPaise),
  acquirerId: message.acquirerId,
  stan: message.stan,
  transmittedOn: rfc3339(message.transmissionAt, timeZone),
  rrn: message.rrn ?? undefined,
  merchantName: message.merchantName ?? undefined,
  merchantPlace: message.merchantPlace ?? undefined,
  channel: message.channel ?? undefined,
  authorizationId: message.authorizationId ?? undefined,
  captureId: message.captureId ?? undefined,
  responseCode: message.responseCode,
})

const MESSAGE = statement<StoredMessage>(
  'console_card_exception_message',
  `select ${cardMessages.columns} from card_messages m where m.partner_id = $1 and m.message_id = $2`,
)

async function readException(tx: Tx, exceptionId: string, timeZone: string) {
  const found = await findRow<CardException>(tx, cardException, { reader: 'operator' }, exceptionId)
  const exception = found ?? fail('card_exception_not_found')
  const { messageId, partnerId } = exception
  const [message] = messageId === null ? [] : await tx.query(MESSAGE, [partnerId, messageId])
  return {
    exception: exceptionToWire(exception, timeZone),
    message: message && messageToWire(message, timeZone),
  }
}

export const showCardException = query({
  ...consoleOperation,
  id: 'console.showCardException',
  method: 'GET',
  path: `${PATH}/:exceptionId`,
  tag: TAG,
  summary: 'Show exception of the card rail, with the message that caused it',
  permission: 'finance',
  params: idParam('exceptionId'),
  result: record('CardExceptionDetail', {
    exception: CardExceptionRecord,
    message: Type.Optional(NetworkMessage),
  }),
  errors: ['card_exception_not_found'],
  mount({ config: { BUSINESS_TIME_ZONE: timeZone }, database }) {
    return async ({ params: { exceptionId } }) => ({
      body: JSON.stringify(await database.operate((tx) => readException(tx, exceptionId, timeZone))),
    })
  },
})
