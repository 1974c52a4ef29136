import { Readable } from 'node:stream'
import { fail } from '@svc/contract/errors'
import { failField } from '@svc/contract/fail-fields'
import { looksLikeDisputeId } from '@svc/core/payments/disputes/dispute'
import {
  ATTACHMENT_BYTES_MAX,
  ATTACHMENTS_EACH_MAX,
  ATTACHMENTS_OF,
  AttachmentRecord,
  attachmentToWire,
  CONTENT_OF,
  EVIDENCE_OF,
  EvidenceRecord,
  evidenceToWire,
  mediaTypeOf,
  type OpenedAttachment,
  openAttachment,
} from '@svc/core/payments/disputes/evidence'
import { hasDispute } from '@svc/core/payments/disputes/find-dispute'
import { uploadAttachment } from '@svc/core/payments/disputes/upload-attachment'
import { recordActs } from '@svc/platform/audit'
import type { Keyring } from '@svc/platform/crypto/keyring'
import type { Tx } from '@svc/platform/db/database'
import { Type } from 'typebox'
import {
  commandContract,
  type Input,
  operation,
  query,
  type Reply,
  streamingQuery,
  succeed,
  tenantOperations,
} from '../http/operation.ts'

const PATH = '/api/v0/disputes/:disputeId'
export const ofDisputes = tenantOperations({ tag: 'Disputes', auth: 'merchant', envelope: 'response_code' })
export const DisputeParams = Type.Object({
  disputeId: Type.String({ description: 'The id of the dispute' }),
})
export const AttachmentParams = Type.Object({
  ...DisputeParams.properties,
  attachmentId: Type.String({ description: 'The id of the attachment' }),
})

export const existingDispute = (disputeId: string): string =>
  looksLikeDisputeId(disputeId) ? disputeId : fail('dispute_not_found')

const FILES = 'PDF, JPEG or PNG'

/** The type of a file by its content; fails for any other than those that banks read. */
function readFile(content: Buffer) {
  if (content.length === 0) failField('file', 'required', 'must not be empty')
  return mediaTypeOf(content) ?? failField('file', 'format', `must be ${FILES}, by its content`)
}

/** Not in the specification (decision Q17). */
export const uploadAttachmentContract = commandContract({
  ...ofDisputes('disputes:write'),
  id: 'uploadAttachment',
  method: 'POST',
  path: `${PATH}/attachments`,
  summary: 'Upload attachment',
  description: `A file for evidence, the body as it is: ${FILES}, at most 5 MB. Its content decides the type, whatever its name. It is stored encrypted, and sent with the evidence that names it. The same content again returns the first attachment. A dispute has at most 20.`,
  params: DisputeParams,
  query: Type.Object(
    {
      name: Type.String({
        minLength: 1,
        maxLength: 100,
        pattern: '^[^\\s/\\\\\\x00-\\x1f\\x7f][^/\\\\\\x00-\\x1f\\x7f]*$',
        'x-rule': 'must have 1 to 100 characters, no space at the begin, and no slash',
        description: 'Name of the file, such as `delivery-note.pdf`',
      }),
    },
    { additionalProperties: false },
  ),
  accepts: ['application/pdf', 'image/jpeg', 'image/png', 'application/octet-stream'],
  bodyBytesMax: ATTACHMENT_BYTES_MAX,
  body: Type.Unsafe<Buffer>({ description: 'The file' }),
  result: AttachmentRecord,
  errors: ['dispute_not_found', 'dispute_closed', 'evidence_limit_reached'],
  run: uploadAttachment,
  args: ({ caller, params, query: { name }, rawBody: content }) => ({
    merchantId: caller.tenantId,
    disputeId: existingDispute(params.disputeId),
    name,
    mediaType: readFile(content),
    content,
  }),
  reply: ({ attachment }, { ok: reply, timeZone }) => reply(attachmentToWire(attachment, timeZone)),
})
export const uploadAttachmentOperation = operation(uploadAttachmentContract)

export const EvidenceRequest = Type.Object(
  {
    evidence: Type.String({
      minLength: 1,
      maxLength: 4000,
      description: 'What shows that the payment is due, such as proof of delivery',
    }),
    attachmentIds: Type.Optional(
      Type.Array(Type.String({ maxLength: 64 }), {
        maxItems: ATTACHMENTS_EACH_MAX,
        description: 'Files that were uploaded for this dispute and are in no earlier evidence',
      }),
    ),
  },
  { additionalProperties: false },
)

/** All that was submitted in a dispute, oldest first. */
export async function readEvidence(tx: Tx, merchantId: string, disputeId: string, timeZone: string) {
  const keys = [[merchantId], [disputeId]]
  const [evidence, attachments] = await Promise.all([
    tx.query(EVIDENCE_OF, keys),
    tx.query(ATTACHMENTS_OF, keys),
  ])
  return evidence.map((each) => evidenceToWire(each, attachments, timeZone))
}

/** Not in the specification (decision Q17). */
export const listEvidence = query({
  ...ofDisputes('disputes:read'),
  id: 'listEvidence',
  method: 'GET',
  path: `${PATH}/evidence`,
  summary: 'List evidence of dispute',
  description: 'Oldest first: what was submitted with which files, and when each was sent to the bank.',
  params: DisputeParams,
  result: Type.Object({ data: Type.Array(EvidenceRecord) }, { additionalProperties: false }),
  errors: ['dispute_not_found'],
  mount:
    ({ database, config: { BUSINESS_TIME_ZONE: timeZone } }) =>
    async ({ caller: { tenantId }, params }) => {
      const disputeId = existingDispute(params.disputeId)
      const data = await database.read([tenantId], async (tx) => {
        if (!(await hasDispute(tx, tenantId, disputeId))) fail('dispute_not_found')
        return readEvidence(tx, tenantId, disputeId, timeZone)
      })
      return { body: succeed({ data }) }
    },
})

interface AttachmentPath {
  readonly disputeId: string
  readonly attachmentId: string
}

/** An attachment with its content. Throws `attachment_not_found`, also once it is erased. */
export async function readAttachment(
  tx: Tx,
  keyring: Keyring,
  { disputeId, attachmentId }: AttachmentPath,
): Promise<OpenedAttachment> {
  const [found] = await tx.query(CONTENT_OF, [disputeId, attachmentId])
  return found ? openAttachment(keyring, found) : fail('attachment_not_found')
}

/** Downloaded, never shown: what a stranger made must not run in the page of an operator. */
export const fileReply = (content: Buffer | AsyncIterable<Uint8Array>, name: string): Reply => ({
  headers: {
    'content-type': 'application/octet-stream',
    'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(name)}`,
    ...(Buffer.isBuffer(content) && { 'content-length': String(content.length) }),
    'x-content-type-options': 'nosniff',
  },
  body: Readable.from(Buffer.isBuffer(content) ? [content] : content, { objectMode: false }),
})

export const downloaded = {
  result: Type.String({ format: 'binary', description: 'The file, as it was uploaded' }),
  produces: 'application/octet-stream',
  errors: ['attachment_not_found'],
} as const

/** Not in the specification (decision Q17). */
export const downloadAttachment = streamingQuery({
  ...ofDisputes('disputes:read'),
  id: 'downloadAttachment',
  method: 'GET',
  path: `${PATH}/attachments/:attachmentId`,
  summary: 'Download attachment',
  description: 'Files of disputes that have ended are erased after `DISPUTE_ATTACHMENT_DAYS`.',
  params: AttachmentParams,
  ...downloaded,
  mount:
    ({ database, keyring }) =>
    async ({ caller, params, requestId }: Input<AttachmentPath, unknown, unknown>) => {
      const { tenantId, member } = caller
      const file = await database.read([tenantId], (tx) => readAttachment(tx, keyring, params))
      if (member !== undefined)
        await database.write([tenantId], async (tx) => {
          const target = params.attachmentId
          recordActs(tx, [{ member, action: 'portal.downloadAttachment', target, tenantId, requestId }])
        })
      return fileReply(file.content, file.name ?? file.attachmentId)
    },
})
