import { type Api, pageQuery, payloadOf, type Schemas } from './api.ts'
import { Paged } from './pages.ts'
import type { CallOptions, WriteOptions } from './transport.ts'

/** A payment, or a part of it, that its payer disputes; `amount` is in rupees. */
export type Dispute = Schemas['Dispute']
/** What was submitted, with its files. */
export type Evidence = Schemas['Evidence']
/** A file of evidence. */
export type Attachment = Schemas['Attachment']

export interface DisputeFilter {
  readonly status?: Dispute['status']
  /** Size of a page, 50 by default. */
  readonly limit?: number
}

/** Payments that payers dispute. */
export class Disputes {
  readonly #api: Api

  constructor(api: Api) {
    this.#api = api
  }

  /** @throws SvcError `dispute_not_found` */
  async get(disputeId: string, options?: CallOptions): Promise<Dispute> {
    const params = { path: { disputeId } }
    const call = this.#api.call(options)
    return payloadOf(await this.#api.http.GET('/api/v0/disputes/{disputeId}', { params, ...call }))
  }

  /** Disputes, newest first. */
  list({ limit, ...filter }: DisputeFilter = {}, options?: CallOptions): Paged<Dispute> {
    return new Paged(async (after) => {
      const params = { query: { ...filter, ...pageQuery(after, limit) } }
      const call = this.#api.call(options)
      return payloadOf(await this.#api.http.GET('/api/v0/disputes', { params, ...call }))
    })
  }

  /**
   * Uploads a file for evidence: PDF, JPEG or PNG, at most 5 MB. The same content again returns the first attachment.
   *
   * @throws SvcError `dispute_not_found`, `dispute_closed`, `evidence_limit_reached`
   */
  async uploadAttachment(
    disputeId: string,
    { content, name }: { readonly name: string; readonly content: Uint8Array },
    options?: WriteOptions,
  ): Promise<Attachment> {
    const params = { path: { disputeId }, query: { name } }
    const call = this.#api.call(options)
    const headers = { ...call.headers, 'Content-Type': 'application/octet-stream' }
    const file = { body: content as never, bodySerializer: () => content }
    return payloadOf(
      await this.#api.http.POST('/api/v0/disputes/{disputeId}/attachments', {
        params,
        ...file,
        ...call,
        headers,
      }),
    )
  }

  /**
   * Contests a dispute before its `evidenceDueOn`, or adds to what was submitted. `evidenceSentOn` of the dispute is
   * absent until the bank has it.
   *
   * @throws SvcError `dispute_not_found`, `dispute_closed`, `attachment_not_found`, `attachment_in_use`,
   *   `evidence_limit_reached`
   */
  async submitEvidence(
    disputeId: string,
    evidence: string,
    { attachmentIds, ...options }: WriteOptions & { readonly attachmentIds?: readonly string[] } = {},
  ): Promise<Dispute> {
    const params = { path: { disputeId } }
    const call = this.#api.call(options)
    const body = { evidence, ...(attachmentIds && { attachmentIds: [...attachmentIds] }) }
    return payloadOf(
      await this.#api.http.POST('/api/v0/disputes/{disputeId}/evidence', { params, body, ...call }),
    )
  }

  /** What was submitted, oldest first, and when each was sent to the bank. @throws SvcError `dispute_not_found` */
  async evidence(disputeId: string, options?: CallOptions): Promise<readonly Evidence[]> {
    const params = { path: { disputeId } }
    const call = this.#api.call(options)
    const { data } = payloadOf(
      await this.#api.http.GET('/api/v0/disputes/{disputeId}/evidence', { params, ...call }),
    )
    return data
  }

  /** A file of evidence, as it was uploaded. @throws SvcError `attachment_not_found` */
  async downloadAttachment(
    disputeId: string,
    attachmentId: string,
    options?: CallOptions,
  ): Promise<Uint8Array> {
    const params = { path: { disputeId, attachmentId } }
    const call = this.#api.file('application/octet-stream', options)
    const path = '/api/v0/disputes/{disputeId}/attachments/{attachmentId}'
    const { data } = await this.#api.http.GET(path, { params, ...call })
    return new Uint8Array(data!)
  }

  /**
   * Leaves the disputed amount with the payer, for good.
   *
   * @throws SvcError `dispute_not_found`, `dispute_closed`
   */
  async accept(disputeId: string, options?: WriteOptions): Promise<Dispute> {
    const params = { path: { disputeId } }
    const call = this.#api.call(options)
    return payloadOf(
      await this.#api.http.POST('/api/v0/disputes/{disputeId}/accept', { params, body: {}, ...call }),
    )
  }
}
