import { bad, hidden, oneOf, type Setting, text, whole } from './setting.ts'

const LOCAL = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/

const issuer: Setting<string, undefined> = {
  type: 'URL',
  default: undefined,
  meaning:
    'OpenID Connect provider with which operators sign in to the console, by the issuer that its discovery document names, such as `https://login.example.com`; `http:` on this machine only. Needs `OIDC_CLIENT_ID` and `OIDC_CLIENT_SECRET`. Register the redirect URI `PUBLIC_URL/console/oidc` with the provider.',
  read(value) {
    const { protocol = '', hostname = '' } = URL.canParse(value) ? new URL(value) : {}
    const isAllowed = protocol === 'https:' || (protocol === 'http:' && LOCAL.test(hostname))
    return isAllowed ? value : bad('must be a URL with https:, or with http: on this machine')
  },
}

const IDLE_MINUTES_LIVE = 15
const IDLE_MINUTES_SANDBOX = 30

const idleLimit: Setting<number, undefined> = {
  ...whole(IDLE_MINUTES_LIVE, 5, 1_440, ''),
  default: undefined,
  meaning: `An operator who asks for nothing for so long is signed out of the console. By default ${IDLE_MINUTES_LIVE} in live mode and ${IDLE_MINUTES_SANDBOX} in sandbox mode.`,
}

/** After so many minutes without a request a session of the console ends. */
export const idleMinutes = ({
  CONSOLE_IDLE_MINUTES: limit,
  SVC_MODE,
}: {
  readonly CONSOLE_IDLE_MINUTES?: number | undefined
  readonly SVC_MODE: 'live' | 'sandbox'
}): number => limit ?? (SVC_MODE === 'live' ? IDLE_MINUTES_LIVE : IDLE_MINUTES_SANDBOX)

/** How operators sign in to the console besides names and passwords (decision O2). */
export const SIGN_IN_SETTINGS = {
  CONSOLE_IDLE_MINUTES: idleLimit,
  OIDC_ISSUER: issuer,
  OIDC_CLIENT_ID: text(undefined, 'Client id of the console at `OIDC_ISSUER`.'),
  OIDC_CLIENT_SECRET: hidden(text(undefined, 'Client secret of the console at `OIDC_ISSUER`.')),
  OIDC_NAME_CLAIM: text(
    'email',
    'Claim of the id token, in any case, that is the name of the operator or invitation; must not be one that users can change themselves. `email` counts only with `email_verified`. After the first sign-in the provider’s `sub` identifies the operator.',
  ),
  CONSOLE_PASSWORDS: oneOf(
    ['on', 'off'],
    'on',
    '`off`: operators cannot sign in to the console with a password, and `svc` moves no money with one; needs `OIDC_ISSUER`. If the provider fails for long, set it to `on` and restart.',
  ),
  CONSOLE_SECOND_FACTOR: oneOf(
    ['optional', 'money', 'all'],
    'optional',
    'Who must have a second factor in the console besides a password: `optional`: each operator decides; `money`: those whose role may move money; `all`: everyone. Operators who have set one up are always asked for it. The same holds where `svc` moves money, with an authenticator app. Passkeys and the identity provider count as two factors. Set `money` in production.',
  ),
  PORTAL_SECOND_FACTOR: oneOf(
    ['optional', 'money', 'all'],
    'optional',
    'The same of members in the portal of tenants: `money` are operators and administrators, who refund. Members have authenticator apps and passkeys, no identity provider.',
  ),
  CONSOLE_STEP_UP_MINUTES: whole(
    5,
    0,
    60,
    'Money moves, keys, webhook endpoints, changes to operators and members, and what cannot be undone need a sign-in of at most so many minutes ago; console and portal ask for the password again. 0: never.',
  ),
} satisfies Record<string, Setting<unknown, string | undefined>>

/** What is wrong with the settings of the sign-in together; `isSet`: whether a setting was given. */
export const signInErrors = (
  {
    CONSOLE_PASSWORDS: passwords,
    OIDC_ISSUER: provider,
  }: {
    readonly CONSOLE_PASSWORDS: 'on' | 'off'
    readonly OIDC_ISSUER?: string | undefined
  },
  isSet: (name: string) => boolean,
): string[] =>
  provider !== undefined
    ? ['OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET']
        .filter((name) => !isSet(name))
        .map((name) => `${name} is needed with OIDC_ISSUER`)
    : passwords === 'off'
      ? ['CONSOLE_PASSWORDS must be on without OIDC_ISSUER: operators could not sign in']
      : []
