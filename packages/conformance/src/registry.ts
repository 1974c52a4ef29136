import type { Check, Section } from './check.ts'
import { AUTHENTICATION_CHECKS } from './checks/authentication.ts'
import { CANCEL_CHECKS } from './checks/cancel-qr-code.ts'
import { HOLDER_CHECKS } from './checks/card-holders.ts'
import { ORDER_CHECKS } from './checks/card-orders.ts'
import { COIN_CHECKS } from './checks/coin-config.ts'
import { CARD_CHECKS } from './checks/create-card.ts'
import { QR_CODE_CHECKS } from './checks/create-qr-code.ts'
import { ENCRYPTION_CHECKS } from './checks/encryption.ts'
import { FAILURE_CHECKS } from './checks/failures.ts'
import { LIMIT_CHECKS, VERSION_CHECKS } from './checks/limits.ts'
import { SEARCH_CHECKS } from './checks/search-cards.ts'
import { TOKEN_CHECKS } from './checks/token.ts'
import type { Profile } from './subject.ts'

const section = (id: string, title: string, ...checks: (readonly Check[])[]): Section => ({
  id,
  title,
  checks: checks.flat(),
})

/** Every promise that is checked, by section of the specification. */
export const SECTIONS: readonly Section[] = [
  section('2.3', 'QR code: creation, lookup, search', QR_CODE_CHECKS),
  section('4.1', 'Generate authorization token', TOKEN_CHECKS),
  section('4.2', 'Cancel UPI QR code', CANCEL_CHECKS),
  section('4.3', 'Create gift card', CARD_CHECKS, HOLDER_CHECKS, ORDER_CHECKS, ENCRYPTION_CHECKS),
  section('4.4', 'Search cards', SEARCH_CHECKS),
  section('4.5', 'Get coin configuration', COIN_CHECKS),
  section('5', 'Authentication', AUTHENTICATION_CHECKS),
  section('7', 'Failures', FAILURE_CHECKS),
  section('8', 'Limits', LIMIT_CHECKS),
  section('9', 'Versioning', VERSION_CHECKS),
]

export interface Selection {
  readonly profile: Profile
  /** Ids of sections; all when there is none. `4` stands for 4.1 to 4.5. */
  readonly sections?: readonly string[]
  /** Ids of checks; all when there is none. */
  readonly only?: readonly string[]
}

/** The sections with the requested ones of their checks. Throws an Error that names ids which do not exist. */
export function selectChecks({ profile, sections = [], only = [] }: Selection): readonly Section[] {
  const inSection = (id: string, sectionId: string) => id === sectionId || id.startsWith(`${sectionId}.`)
  const noSection = sections.filter((sectionId) => !SECTIONS.some(({ id }) => inSection(id, sectionId)))
  if (noSection.length > 0)
    throw new Error(
      `no such section: ${noSection.join(', ')}; there are ${SECTIONS.map(({ id }) => id).join(', ')}`,
    )
  const ids = new Set(SECTIONS.flatMap(({ checks }) => checks.map(({ id }) => id)))
  const noCheck = only.filter((id) => !ids.has(id))
  if (noCheck.length > 0) throw new Error(`no such check: ${noCheck.join(', ')}; --list shows them all`)
  return SECTIONS.filter(
    ({ id }) => sections.length === 0 || sections.some((sectionId) => inSection(id, sectionId)),
  )
    .map((one) => ({
      ...one,
      checks: one.checks.filter(
        ({ id, origin }) =>
          (profile === 'full' || origin === 'spec') && (only.length === 0 || only.includes(id)),
      ),
    }))
    .filter(({ checks }) => checks.length > 0)
}
