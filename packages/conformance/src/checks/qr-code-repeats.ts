import { type Check, decided } from '../check.ts'
import type { HttpResponse } from '../exchange.ts'
import { at, fail, wantFailure, wantKind, wantStatus, wantText, wantValue } from '../expect.ts'
import { type Fields, PATHS, type Subject } from '../subject.ts'

/** Creates a code, where the server has that. */
export async function create(subject: Subject, request: Fields): Promise<HttpResponse> {
  await subject.needCreation()
  return subject.call('POST', PATHS.qrCode, request, await subject.asMerchant())
}

const reference = (): string => `conf-${crypto.randomUUID()}`

export const QR_CODE_REPEAT_CHECKS: readonly Check[] = [
  decided(
    '2.3.reference.repeat',
    'decision Q9',
    'The same reference and request return the same code',
    async (s) => {
      const request = { referenceNumber: reference(), amount: 12.5 }
      const first = await create(s, request)
      wantStatus(first, 200)
      wantValue(await create(s, request), 'payload.qrCodeId', wantText(first, 'payload.qrCodeId'))
    },
  ),
  decided(
    '2.3.reference.other',
    'decision Q9',
    'The same reference with another request is 409',
    async (s) => {
      const referenceNumber = reference()
      wantStatus(await create(s, { referenceNumber, amount: 12.5 }), 200)
      wantFailure(await create(s, { referenceNumber, amount: 13 }), 409, 'reference_in_use')
    },
  ),
  decided(
    '2.3.reference.cancelled',
    'decision Q9',
    'After a cancel the reference makes a new code',
    async (s) => {
      const request = { referenceNumber: reference() }
      const first = await create(s, request)
      const id = wantText(first, 'payload.qrCodeId')
      wantStatus(await s.cancel(id), 200)
      const second = await create(s, request)
      wantStatus(second, 200)
      if (wantText(second, 'payload.qrCodeId') === id) fail(second, 'a new code', 'the cancelled one')
    },
  ),
  decided(
    '2.3.idempotency',
    'decision C13',
    'The same Idempotency-Key returns the same response byte for byte, and creates once',
    async (s) => {
      await s.needCreation()
      const headers = { ...(await s.asMerchant()), 'idempotency-key': crypto.randomUUID() }
      const request = { qrName: 'Once', customerId: reference() }
      const first = await s.call('POST', PATHS.qrCode, request, headers)
      wantStatus(first, 200)
      const second = await s.call('POST', PATHS.qrCode, request, headers)
      wantStatus(second, 200)
      if (second.text !== first.text) fail(second, 'the first response, byte for byte', 'another response')
      wantValue(await search(s, { customerId: request.customerId }), 'payload.recordsCount', 1)
    },
  ),
  decided(
    '2.3.idempotency.other',
    'decision C13',
    'The same Idempotency-Key with another request is 422',
    async (s) => {
      await s.needCreation()
      const headers = { ...(await s.asMerchant()), 'idempotency-key': crypto.randomUUID() }
      wantStatus(await s.call('POST', PATHS.qrCode, { qrName: 'One' }, headers), 200)
      const other = await s.call('POST', PATHS.qrCode, { qrName: 'Two' }, headers)
      wantFailure(other, 422, 'idempotency_key_reused')
    },
  ),
]

async function search(subject: Subject, filters: Fields): Promise<HttpResponse> {
  await subject.needCreation()
  return subject.call('POST', `${PATHS.qrCode}/search`, filters, await subject.asMerchant())
}

export const QR_CODE_SEARCH_CHECKS: readonly Check[] = [
  decided(
    '2.3.search',
    'decision Q8',
    'A search by reference finds the one code, without its image',
    async (s) => {
      const referenceNumber = reference()
      const made = await create(s, { referenceNumber })
      wantStatus(made, 200)
      const response = await search(s, { referenceNumber })
      wantValue(response, 'payload.recordsCount', 1)
      wantValue(response, 'payload.data.0.qrCodeId', wantText(made, 'payload.qrCodeId'))
      if (at(response, 'payload.data.0.qrCodeBase64') !== undefined)
        fail(response, 'no image in a search', 'qrCodeBase64')
    },
  ),
  decided('2.3.search.pages', 'decision Q8', 'Pages follow one another without gap or repeat', async (s) => {
    const customerId = reference()
    for (const qrName of ['1', '2', '3']) wantStatus(await create(s, { customerId, qrName }), 200)
    const first = await search(s, { customerId, limit: 2 })
    const second = await search(s, { customerId, limit: 2, after: at(first, 'payload.next') })
    const names = [...rows(first), ...rows(second)].map((row) => row['qrName'])
    if (names.join() !== '3,2,1') fail(second, 'codes 3, 2, 1 over two pages', names.join())
  }),
  decided('2.3.search.limit', 'decision Q8', 'A page of more than 500 is refused', async (s) =>
    wantFailure(await search(s, { limit: 501 }), 400, 'validation_failed', 'limit'),
  ),
]

const rows = (response: HttpResponse): Record<string, unknown>[] =>
  wantKind(response, 'payload.data', 'array') as Record<string, unknown>[]
