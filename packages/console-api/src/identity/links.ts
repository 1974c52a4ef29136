import type { RandomBytes } from '@svc/kernel/ids'
import { Type } from 'typebox'

/** How long a link works with which a person chooses a password. */
export const LINK_HOURS = 72
const LINK_HOURS_MAX = 720

/** The same in a request. */
export const LinkHours = Type.Optional(
  Type.Integer({
    minimum: 1,
    maximum: LINK_HOURS_MAX,
    description: `Hours for which the link works, 1 to ${LINK_HOURS_MAX}; ${LINK_HOURS} by default`,
  }),
)

export const linkExpiresAt = (now: Date, hours: number): Date => new Date(now.getTime() + hours * 3_600_000)

/** What a link has that no person guesses: 256 random bits in base64url, so that attempts need no limit. */
export const newSecret = (random: RandomBytes): string => Buffer.from(random(32)).toString('base64url')
export const SECRET = '[A-Za-z0-9_-]{43}'
