import { Alert, Button, Center, Divider, Paper, Stack, Text, Title } from '@mantine/core'
import { useDocumentTitle } from '@mantine/hooks'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useRouter } from '@tanstack/react-router'
import { useState } from 'react'
import { api, responseOf, type Schemas } from '../api.ts'
import { asCallFailed } from '../failure.ts'
import { ChoosePassword } from '../parts/choose-password.tsx'
import { Instant } from '../parts/instant.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Facts } from '../parts/page.tsx'
import { SingleSignOn } from '../parts/single-sign-on.tsx'
import { aboutQuery, keepSession } from '../session.ts'
import { startOf } from '../shell/areas.ts'
import { sentenceCase } from '../words.ts'

/** What the person can do where the invitation no longer works. */
const ENDED: Readonly<Record<string, string>> = {
  invitation_not_found: 'Copy the whole link, or ask for a new one.',
  invitation_used:
    'Sign in with the name and password that you chose. If that was not you, report it at once.',
  invitation_revoked: 'Ask an administrator for a new one.',
  invitation_not_approved:
    'Ask another administrator to approve it under Operators, then open the link again.',
  invitation_expired: 'Ask an administrator for a new one: links work for a limited time.',
}

/** What an invited person opens: the token is in the fragment of the address, which browsers send to no server. */
export function AcceptInvitation() {
  useDocumentTitle('Invitation · svc console')
  const [token] = useState(() => window.location.hash.slice(1))
  const about = useQuery(aboutQuery)
  const offered = useQuery({
    queryKey: ['invitation', token],
    queryFn: () => responseOf(api.POST('/invitation', { body: { token: token || '-' } })),
    staleTime: Infinity,
    refetchOnWindowFocus: false,
  })
  const errorCode = offered.error && asCallFailed(offered.error).code
  const ended = errorCode ? ENDED[errorCode] : undefined
  return (
    <Center mih="100dvh" p="md" component="main">
      <Paper withBorder p="xl" w="100%" maw={460}>
        <Stack>
          <div>
            <Title order={1} size="h2">
              Invitation
            </Title>
            <Text c="dimmed">To the operators’ console of svc.</Text>
          </div>
          {offered.error && ended !== undefined ? (
            <Ended title={asCallFailed(offered.error).message} advice={ended} />
          ) : (
            <Loaded query={about}>
              {({ passwords, singleSignOn }) => (
                <Loaded query={offered}>
                  {(offer) => (
                    <>
                      <OfferFacts offer={offer} />
                      {singleSignOn !== undefined && <SingleSignOn host={singleSignOn} back="/" />}
                      {passwords && singleSignOn !== undefined && <Divider label="or with a password" />}
                      {passwords && <PasswordForm token={token} name={offer.name} />}
                    </>
                  )}
                </Loaded>
              )}
            </Loaded>
          )}
        </Stack>
      </Paper>
    </Center>
  )
}

function Ended({ title, advice }: { readonly title: string; readonly advice: string }) {
  return (
    <>
      <Alert color="orange" title={title} role="alert">
        {advice}
      </Alert>
      <Button component={Link} to="/sign-in" variant="default">
        Go to the sign-in
      </Button>
    </>
  )
}

function OfferFacts({
  offer: { name, role, invitedBy, expiresOn },
}: {
  readonly offer: Schemas['OfferedInvitation']
}) {
  return (
    <Facts
      cols={2}
      facts={[
        { label: 'Your name here', value: name },
        { label: 'Role', value: sentenceCase(role) },
        { label: 'Invited by', value: invitedBy },
        { label: 'Open until', value: <Instant at={expiresOn} /> },
      ]}
    />
  )
}

function PasswordForm({ token, name }: { readonly token: string; readonly name: string }) {
  const router = useRouter()
  const accept = useMutation({
    mutationFn: (password: string) =>
      responseOf(api.POST('/invitation/accept', { body: { token, password } })),
    onSuccess: (session) => {
      keepSession(session)
      // The page replaces the link in the history of the browser.
      router.history.replace(`/console${startOf(session.operator.role)}`)
    },
  })
  return (
    <ChoosePassword
      name={name}
      send="Accept and sign in"
      busy={accept.isPending}
      failed={accept.error}
      choose={accept.mutate}
    />
  )
}
