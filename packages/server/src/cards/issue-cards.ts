import { acceptBulkJob } from '@svc/core/cards/bulk/accept-bulk-job'
import type { Issued } from '@svc/core/cards/card/card-issuing'
import { CardRecord } from '@svc/core/cards/card/card-record'
import { createGiftCard } from '@svc/core/cards/card/create-gift-card'
import { GIFT_CARD_SAMPLES } from '@svc/core/cards/card/gift-card-samples'
import { carriedOut } from '@svc/core/ledger/money-command'
import { JWE_CHARS_MAX } from '@svc/jwe/compact'
import type { HttpResponse, ResponseKey } from '@svc/platform/db/idempotency-store'
import { Type } from 'typebox'
import { okWithCode, operation } from '../http/operation.ts'
import { retryKey } from '../http/retry-key.ts'
import { BULK_ACCEPTED, BULK_BODY_BYTES_MAX, bulkAccepted, splitLines } from './bulk-lines.ts'
import { ofCards } from './get-card.ts'
import { GiftCardRequest, readGiftCardOrder } from './gift-card-order.ts'

export const giftCardResponse = ({ record }: Issued): HttpResponse => okWithCode(record)

/** The card that a response to a gift-card order names. */
export const svcCardIdIn = ({ body }: HttpResponse): string =>
  (JSON.parse(body) as { payload: { svcCardId: string } }).payload.svcCardId

/** Spec section 4.3. */
export const createGiftCardOperation = operation({
  ...ofCards('cards:write'),
  id: 'createGiftCard',
  method: 'POST',
  path: '/api/v0/partner/svcCard',
  summary: 'Create gift card',
  description:
    'The request is encrypted: a compact JWE of the fields below, to a key published at `/.well-known/jwks.json` or with the partner’s shared key. The card is loaded from its card account; if the funds are insufficient, no card is created. An order with the same `referenceNumber` and content returns the first card; with other content it is 409. Without a `referenceNumber` and an `Idempotency-Key`, an order with the same content within `CARD_REPEAT_SECONDS` returns the first card: to order two equal cards, give each order its own. A rejected order counts as used: the same JWE is rejected again. With `Accept: application/jose` the response is encrypted.',
  developing: true,
  ignores: ['query'],
  accepts: ['application/json', 'application/jose'],
  encrypted: 'both',
  body: GiftCardRequest,
  samples: GIFT_CARD_SAMPLES,
  result: CardRecord,
  errors: [
    'company_not_found',
    'card_account_not_found',
    'user_not_found',
    'user_erased',
    'insufficient_funds',
    'load_over_limit',
    'order_reference_in_use',
  ],
  run: createGiftCard,
  args: ({ caller, body, headers, ciphertextHash }) => ({
    partnerId: caller.tenantId,
    order: readGiftCardOrder(body),
    ciphertextHash,
    ...(headers['idempotency-key'] === undefined && { hasNoKey: true as const }),
  }),
  reply: (outcome) => giftCardResponse(carriedOut(outcome)),
})

/** The key of an order that came without an `Idempotency-Key`: alone or in an upload, its JWE counts once. */
export const retryKeyOfOrder = (
  partnerId: string,
  body: GiftCardRequest,
  ciphertextHash: Buffer | undefined,
): ResponseKey | undefined =>
  retryKey(createGiftCardOperation, {
    caller: { tenantId: partnerId },
    params: {},
    query: {},
    headers: {},
    body,
    ciphertextHash,
  })

/** Of a line: a JWE in quotation marks. */
const LINE_LIMIT = { bytes: JWE_CHARS_MAX + 2, text: `${JWE_CHARS_MAX} characters, as a JWE has` }

/** Not in the specification. */
export const bulkIssueOperation = operation({
  ...ofCards('cards:write'),
  id: 'bulkIssueGiftCards',
  method: 'POST',
  path: '/api/v0/partner/svcCard/bulk',
  summary: 'Create gift cards in bulk',
  description:
    'Each line is one request, encrypted as for a single card. The requests are stored, then carried out in the background, after single requests; a crash loses none and repeats none. Each JWE is accepted once: for one that was used before, the result is the card of its first use. Use the `jobId` to get the progress and the results. A partner may send two bodies above `BODY_BYTES_MAX` at a time, and each process accepts four; further ones are rejected with 503 `overloaded`.',
  accepts: ['application/x-ndjson'],
  bodyBytesMax: BULK_BODY_BYTES_MAX,
  body: Type.Unsafe<Buffer>({
    description:
      'A compact JWE on each line, bare or as a JSON string; at most 16 MiB, and 65,536 characters for each JWE. Empty lines are passed over.',
  }),
  result: BULK_ACCEPTED,
  errors: [],
  run: acceptBulkJob,
  args: ({ caller, rawBody }, { config }) => ({
    partnerId: caller.tenantId,
    kind: 'issue' as const,
    lines: splitLines(rawBody, config.BULK_ROWS_MAX, LINE_LIMIT),
  }),
  reply: bulkAccepted,
})
