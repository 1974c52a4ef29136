import { bad, hidden, oneOf, type Setting, text } from './setting.ts'

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

/** How operators sign in to the console besides names and passwords (decision O2). */
export const SIGN_IN_SETTINGS = {
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
    '`off`: operators cannot sign in to the console with a password; needs `OIDC_ISSUER`. If the provider fails for long, set it to `on` and restart.',
  ),
} satisfies Record<string, Setting<unknown, string | undefined>>
