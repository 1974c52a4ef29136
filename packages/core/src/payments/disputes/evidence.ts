import { rfc3339 } from '@svc/kernel/time'
import { encryptedColumn } from '@svc/platform/crypto/encrypted-column'
import type { EncryptedRows } from '@svc/platform/crypto/key-rotation'
import type { Keyring } from '@svc/platform/crypto/keyring'
import { statement } from '@svc/platform/db/statement'
import {
  bytes,
  generated,
  instant,
  integer,
  nullable,
  type RowOf,
  secret,
  table,
  text,
  textOf,
} from '@svc/platform/db/table'
import { Type } from 'typebox'

/** What merchants submitted in disputes, each sent to the bank once (decision Q17). */
export const disputeEvidence = table('dispute_evidence', 'v', ['merchantId', 'evidenceId'], {
  merchantId: text,
  evidenceId: text,
  disputeId: text,
  evidence: text,
  createdAt: instant,
  sentAt: generated(nullable(instant)),
  /** The file in which it went; null where the bank was called. */
  runId: generated(nullable(text)),
  receipt: generated(nullable(text)),
  /** Calls of the bank. */
  attempts: generated(integer),
  nextAttemptAt: generated(instant),
  /** Of the last call, in words. */
  failure: generated(nullable(text)),
})
export type Evidence = RowOf<typeof disputeEvidence>

/** Types of files by their first bytes: a name proves nothing. */
const MEDIA_TYPES = [
  ['application/pdf', Buffer.from('%PDF-')],
  ['image/jpeg', Buffer.from([0xff, 0xd8, 0xff])],
  ['image/png', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])],
] as const
export type MediaType = (typeof MEDIA_TYPES)[number][0]
export const mediaTypeOf = (content: Buffer): MediaType | undefined =>
  MEDIA_TYPES.find(([, begin]) => content.subarray(0, begin.length).equals(begin))?.[0]

export const ATTACHMENT_BYTES_MAX = 5 * 2 ** 20
/** Of one submission. */
export const ATTACHMENTS_EACH_MAX = 5
/** Of a dispute, with those that are uploaded and not submitted. */
export const ATTACHMENTS_MAX = 20
export const SUBMISSIONS_MAX = 10

/** Files of evidence, encrypted; of a dispute that ended long ago neither name nor content is left. */
export const disputeAttachments = table('dispute_attachments', 'a', ['merchantId', 'attachmentId'], {
  merchantId: text,
  attachmentId: text,
  disputeId: text,
  evidenceId: nullable(text),
  name: nullable(text),
  mediaType: textOf<MediaType>(),
  size: integer,
  digest: bytes,
  content: secret(nullable(bytes)),
  createdAt: instant,
  erasedAt: generated(nullable(instant)),
})
export type Attachment = RowOf<typeof disputeAttachments>

const PURPOSE = 'dispute_attachment'
/** By the last part of the key: an id names one attachment among all merchants. */
const encryptedFor = (...key: readonly string[]): string => `attachment ${key.at(-1)}`
export const encryptAttachment = (
  keyring: Keyring,
  { merchantId, attachmentId }: Pick<Attachment, 'merchantId' | 'attachmentId'>,
  content: Buffer,
): Buffer => keyring.encrypt(PURPOSE, content, encryptedFor(merchantId, attachmentId))

/** For the rotation of the key that encrypts them. */
export const ATTACHMENTS: EncryptedRows = encryptedColumn({
  purpose: PURPOSE,
  table: 'dispute_attachments',
  key: ['merchant_id', 'attachment_id'],
  column: 'content',
  encryptedFor,
  rowsAtOnce: 4,
})

/** An attachment with its content. */
export type OpenedAttachment = Attachment & { readonly content: Buffer }
export const openAttachment = (
  keyring: Keyring,
  { content, ...of }: Attachment & { readonly content: Buffer },
): OpenedAttachment => ({
  ...of,
  content: keyring.open(PURPOSE, content, encryptedFor(of.merchantId, of.attachmentId)),
})

const OF_DISPUTES = '(select * from unnest($1::text[], $2::text[]))'
/** Of these disputes, oldest first. */
export const EVIDENCE_OF = statement<Evidence>(
  'dispute_evidence_of',
  `select ${disputeEvidence.columns} from dispute_evidence v where (v.merchant_id, v.dispute_id) in ${OF_DISPUTES}
   order by v.created_at, v.evidence_id`,
)
export const ATTACHMENTS_OF = statement<Attachment>(
  'dispute_attachments_of',
  `select ${disputeAttachments.columns} from dispute_attachments a where (a.merchant_id, a.dispute_id) in ${OF_DISPUTES}
   order by a.created_at, a.attachment_id`,
)
/** Of these submissions, with what is encrypted. */
export const CONTENTS_OF = statement<OpenedAttachment>(
  'dispute_attachments_contents',
  `select ${disputeAttachments.columns}, a.content from dispute_attachments a
   where (a.merchant_id, a.evidence_id) in ${OF_DISPUTES} and a.erased_at is null order by a.created_at, a.attachment_id`,
)
/** One of a dispute, with what is encrypted; none once it is erased. */
export const CONTENT_OF = statement<OpenedAttachment>(
  'dispute_attachment_content',
  `select ${disputeAttachments.columns}, a.content from dispute_attachments a
   where a.dispute_id = $1 and a.attachment_id = $2 and a.erased_at is null`,
)

export const AttachmentRecord = Type.Object(
  {
    attachmentId: Type.String(),
    name: Type.Optional(Type.String({ description: 'Absent once the file is erased' })),
    mediaType: Type.Enum(
      MEDIA_TYPES.map(([type]) => type),
      { description: 'By its content' },
    ),
    size: Type.Integer({ description: 'Bytes' }),
    sha256: Type.String({ description: 'Of its content, in hexadecimal' }),
    createdOn: Type.String({ description: 'RFC 3339 with milliseconds and zone offset' }),
  },
  { title: 'Attachment', additionalProperties: false },
)

export const attachmentToWire = (attachment: Attachment, timeZone: string) => ({
  attachmentId: attachment.attachmentId,
  name: attachment.name ?? undefined,
  mediaType: attachment.mediaType,
  size: attachment.size,
  sha256: attachment.digest.toString('hex'),
  createdOn: rfc3339(attachment.createdAt, timeZone),
})

export const EvidenceRecord = Type.Object(
  {
    evidenceId: Type.String(),
    evidence: Type.String({ description: 'What was submitted' }),
    createdOn: Type.String({ description: 'RFC 3339 with milliseconds and zone offset' }),
    sentOn: Type.Optional(Type.String({ description: 'When it was sent to the bank; absent: not sent yet' })),
    receipt: Type.Optional(Type.String({ description: 'By which the bank or the network names it' })),
    attachments: Type.Array(AttachmentRecord),
  },
  { title: 'Evidence', additionalProperties: false },
)

/** A submission with those of a dispute's attachments that belong to it. */
export const evidenceToWire = (evidence: Evidence, ofDispute: readonly Attachment[], timeZone: string) => ({
  evidenceId: evidence.evidenceId,
  evidence: evidence.evidence,
  createdOn: rfc3339(evidence.createdAt, timeZone),
  sentOn: evidence.sentAt ? rfc3339(evidence.sentAt, timeZone) : undefined,
  receipt: evidence.receipt ?? undefined,
  attachments: ofDispute
    .filter(({ evidenceId }) => evidenceId === evidence.evidenceId)
    .map((attachment) => attachmentToWire(attachment, timeZone)),
})
