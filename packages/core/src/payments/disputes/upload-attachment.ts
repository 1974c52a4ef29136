import { createHash } from 'node:crypto'
import { fail } from '@svc/contract/errors'
import { command } from '@svc/platform/command'
import {
  ATTACHMENTS_MAX,
  type Attachment,
  disputeAttachments,
  encryptAttachment,
  type MediaType,
} from './evidence.ts'
import { lockContested, requireContestable } from './submit-evidence.ts'

export interface UploadAttachment {
  readonly merchantId: string
  readonly disputeId: string
  readonly name: string
  readonly mediaType: MediaType
  readonly content: Buffer
}

/** Stores a file for evidence of a dispute (decision Q17). The same content again is the first attachment. */
export const uploadAttachment = command({
  name: 'uploadAttachment',

  prepare:
    ({ keyring, newId }) =>
    ({ content, ...args }: UploadAttachment) => {
      const attachmentId = newId('att')
      return {
        ...args,
        tenantId: args.merchantId,
        attachmentId,
        size: content.length,
        digest: createHash('sha256').update(content).digest(),
        encrypted: encryptAttachment(keyring, { merchantId: args.merchantId, attachmentId }, content),
      }
    },

  lock: (tx, commands) => lockContested(tx, commands),

  decide(state, { encrypted, ...given }, now) {
    const { merchantId, disputeId, attachmentId, name, mediaType, size, digest } = given
    const dispute = state.disputes.get(disputeId) ?? fail('dispute_not_found')
    const uploaded = state.attachments.get(disputeId) ?? []
    const known = uploaded.find((each) => each.digest.equals(digest))
    if (known) return { attachment: known, content: undefined }
    requireContestable(dispute, now)
    if (uploaded.length >= ATTACHMENTS_MAX) fail('evidence_limit_reached')
    const attachment: Attachment = {
      merchantId,
      attachmentId,
      disputeId,
      evidenceId: null,
      name,
      mediaType,
      size,
      digest,
      createdAt: now,
      erasedAt: null,
    }
    return { attachment, content: encrypted }
  },

  apply({ attachments }, { attachment, content }) {
    const { disputeId } = attachment
    if (content) attachments.set(disputeId, [...(attachments.get(disputeId) ?? []), attachment])
  },

  save: (tx, decisions) =>
    disputeAttachments.insert(
      tx,
      decisions.flatMap(({ attachment, content }) => (content ? [{ ...attachment, content }] : [])),
    ),
})
