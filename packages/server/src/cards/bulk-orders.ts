import { type ErrorCode, Failure, fail } from '@svc/contract/errors'
import { type BulkOutcome, type DueJob, type OpenJob, openLine } from '@svc/core/cards/bulk/bulk-job'
import type { Issued } from '@svc/core/cards/card/card-issuing'
import { createGiftCard } from '@svc/core/cards/card/create-gift-card'
import { carriedOut, type WaitingApproval } from '@svc/core/ledger/money-command'
import { statement } from '@svc/platform/db/statement'
import { parseJson } from '../http/bodies.ts'
import { decryptBody } from '../http/encryption.ts'
import type { Services } from '../http/operation.ts'
import { bodyCheck } from '../http/validator.ts'
import type { BulkWork, LeasedLine } from './bulk-lines.ts'
import { GiftCardRequest, readGiftCardOrder } from './gift-card-order.ts'
import { createGiftCardOperation, giftCardResponse, retryKeyOfOrder, svcCardIdIn } from './issue-cards.ts'

/** Errors of an order that may have its card all the same. */
const MAYBE_ISSUED: ReadonlySet<ErrorCode> = new Set(['encrypted_request_replayed', 'tenant_closing'])

const CARD_OF_JWE = statement<{ svcCardId: string }>(
  'bulk_card_of_ciphertext',
  `select c.svc_card_id as "svcCardId" from cards c join bulk_jobs j using (partner_id)
   where c.partner_id = $1 and j.job_id = $2 and c.ciphertext_hash = $3 and c.created_at >= j.created_at`,
)

/** How orders of a job are carried out. That each is done once rests on its JWE, which counts once (decision C13). */
export function bulkOrders(services: Services): BulkWork {
  const { commands, config, database, keyring } = services
  const check = bodyCheck(GiftCardRequest, config.UNKNOWN_FIELDS)
  const create = commands.open(createGiftCard)

  /**
   * A job may outlive the stored responses: stopped for days between the commit of a card and its result. Then the JWE
   * is known only by its card; one that was issued since the upload is this row's own. So it is where the partner is
   * closing by then.
   */
  async function issuedBefore({ partnerId, jobId }: OpenJob, jwe: Buffer): Promise<string | undefined> {
    const [card] = await database.read([partnerId], (tx) => tx.query(CARD_OF_JWE, [partnerId, jobId, jwe]))
    return card?.svcCardId
  }

  return {
    command: create,
    /** The same as a single order from here on: decrypt, check, submit. */
    async carryOut(job: DueJob, row: LeasedLine, submitting): Promise<BulkOutcome> {
      const { partnerId, jobId, isClosing } = job
      const { line } = row
      let jwe: Buffer | undefined
      try {
        const encrypted = readEncrypted(openLine(keyring, jobId, row))
        const id = `${jobId} row ${line}`
        const { body, ciphertextHash } = await decryptBody(
          services,
          { tenantId: partnerId },
          { id, body: encrypted },
          { path: createGiftCardOperation.path, mayBeOld: true },
        )
        jwe = ciphertextHash
        if (isClosing) fail('tenant_closing')
        const invalid = check(body)
        if (invalid) fail('validation_failed', invalid)
        const request = body as GiftCardRequest
        const order = readGiftCardOrder(request)
        submitting()
        // The first response to a JWE is kept for its repeats, whether it came alone or in an upload.
        const responding = {
          reply: (outcome: Issued | WaitingApproval) => giftCardResponse(carriedOut(outcome)),
          retry: retryKeyOfOrder(partnerId, request, ciphertextHash),
        }
        const response = await create.respond({ partnerId, order, ciphertextHash }, responding)
        return { line, status: 'ISSUED', svcCardId: svcCardIdIn(response) }
      } catch (error) {
        if (!(error instanceof Failure) || error.status >= 500) throw error
        const issued = MAYBE_ISSUED.has(error.code) && jwe ? await issuedBefore(job, jwe) : undefined
        if (issued !== undefined) return { line, status: 'ISSUED', svcCardId: issued }
        return { line, status: 'FAILED', error: error.code, errorDescription: error.description }
      }
    },
  }
}

const OBJECT = 0x7b
const STRING = 0x22

/** A line as the body of a single order would be read: the bare JWE, or a JSON string that holds it. */
function readEncrypted(text: Buffer): unknown {
  // A plain order has no JWE that could make it count once.
  if (text[0] === OBJECT) return fail('request_not_encrypted')
  return text[0] === STRING ? parseJson(text) : text.toString('latin1')
}
