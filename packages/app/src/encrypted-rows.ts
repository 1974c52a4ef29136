import { SECOND_FACTORS } from '@svc/console-api/identity/reencrypt-second-factors'
import { BULK_LINES } from '@svc/core/cards/bulk/reencrypt-bulk-lines'
import { CARD_NUMBERS } from '@svc/core/cards/card/reencrypt-card-numbers'
import { ATTACHMENTS } from '@svc/core/payments/disputes/evidence'
import { PARTNER_KEYS } from '@svc/core/tenants/reencrypt-partner-keys'
import { WEBHOOK_SECRETS } from '@svc/core/webhooks/reencrypt-webhook-secrets'
import type { EncryptedPlaces, EncryptedRows } from '@svc/platform/crypto/key-rotation'
import { STORED_RESPONSES } from '@svc/platform/db/stored-response-rows'

const PLACES: EncryptedPlaces = {
  card_number: [CARD_NUMBERS],
  partner_key: [PARTNER_KEYS],
  stored_answer: [STORED_RESPONSES],
  bulk_row: [BULK_LINES],
  webhook_secret: WEBHOOK_SECRETS,
  operator_totp: SECOND_FACTORS,
  dispute_attachment: [ATTACHMENTS],
}
/** All that the service's data keys encrypt. */
export const ENCRYPTED_ROWS: readonly EncryptedRows[] = Object.values(PLACES).flat()
