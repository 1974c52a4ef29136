import { setTimeout as sleep } from 'node:timers/promises'
import type { HttpResponse } from '../exchange.ts'
import { wantStatus, wantText } from '../expect.ts'
import type { Subject } from '../subject.ts'
import { statusOf } from './cancelled-code.ts'
import { wantInstant } from './qr-code-fields.ts'
import { create } from './qr-code-repeats.ts'

/** Long enough for a slow server to create the code before it expires. */
const EXPIRES_AFTER_MS = 5_000
/** Processes of one server may differ by so much. */
const CLOCKS_APART_MS = 500

/** The lookup of a code after its expiry. All times are the server's own, so that its clock need not be that of the kit. */
export const expired = (subject: Subject): Promise<HttpResponse> =>
  subject.observe('an expired code', async () => {
    const createdAtMs = (response: HttpResponse) => Date.parse(wantInstant(response, 'payload.createdOn'))
    const expiresAtMs = createdAtMs(await create(subject, {})) + EXPIRES_AFTER_MS
    const response = await create(subject, { expiry: new Date(expiresAtMs).toISOString() })
    wantStatus(response, 200)
    await sleep(expiresAtMs - createdAtMs(response) + CLOCKS_APART_MS)
    return statusOf(subject, wantText(response, 'payload.qrCodeId'))
  })
