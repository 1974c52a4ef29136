import type { HttpResponse } from '../exchange.ts'
import { isKind, wantValue } from '../expect.ts'
import { PATHS, type Subject } from '../subject.ts'
import { block } from '../verdict.ts'
import { everyField } from './qr-code-fields.ts'

export interface Cancelled {
  readonly qrCodeId: string
  readonly requested: Readonly<Record<string, unknown>>
  readonly response: HttpResponse
}

/** A code with every field that can be requested, cancelled once. */
export function cancelled(subject: Subject): Promise<Cancelled> {
  return subject.observe('a cancelled code', async () => {
    const requested = everyField()
    const qrCodeId = await subject.newQrCode(requested)
    return { qrCodeId, requested, response: await subject.cancel(qrCodeId) }
  })
}

export const statusOf = async (subject: Subject, qrCodeId: string): Promise<HttpResponse> =>
  subject.call('GET', `${PATHS.qrCode}/${qrCodeId}`, undefined, await subject.asMerchant())

/** The code is still as it was, where the server has a lookup of codes. */
export async function wantActive(subject: Subject, qrCodeId: string): Promise<void> {
  if (await subject.creates()) wantValue(await statusOf(subject, qrCodeId), 'payload.status', 'ACTIVE')
}

/** The response to the first cancel, where it can be used: optional fields of another one are not there either. */
export function usable(response: HttpResponse): HttpResponse {
  const is2xx = response.status >= 200 && response.status <= 299
  if (is2xx && isKind(response.json, 'object')) return response
  return block(response, 'payload', `needs a cancelled code: the cancel returned ${response.status}`)
}
