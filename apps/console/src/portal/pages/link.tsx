import { Alert, Button, Center, Paper, Stack, Text, Title } from '@mantine/core'
import { useDocumentTitle } from '@mantine/hooks'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useRouter } from '@tanstack/react-router'
import { useState } from 'react'
import { responseOf } from '../../api.ts'
import { asCallFailed } from '../../failure.ts'
import { ChoosePassword } from '../../parts/choose-password.tsx'
import { CodeInput } from '../../parts/code-input.tsx'
import { WarningIcon } from '../../parts/icons.tsx'
import { Instant } from '../../parts/instant.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Facts } from '../../parts/page.tsx'
import { forgetPerson, queryClient } from '../../session.ts'
import { sentenceCase } from '../../words.ts'
import { api, type Schemas } from '../api.ts'
import { HandoverSheet } from '../handover-sheet.tsx'
import { memberQuery } from '../session.ts'
import { requiresCode } from '../step-up.tsx'

const ENDED: Readonly<Record<string, string>> = {
  invitation_not_found:
    'Links work once, so it may have been used. Copy the whole link, sign in with your password, or ask for a new link.',
  invitation_expired: 'Ask an administrator for a new one: links work for a limited time.',
}

/** What the link offers, and what uses it. */
function useOffer(code: string, enter: () => void) {
  const [token] = useState(() => window.location.hash.slice(1))
  const offered = useQuery({
    queryKey: ['link', token],
    queryFn: () => responseOf(api.POST('/link', { body: { token: token || '-' } })),
    staleTime: Infinity,
    refetchOnWindowFocus: false,
  })
  const use = useMutation({
    mutationFn: (password: string) => {
      const body = { token, password, ...(code.trim() && { code: code.trim() }) }
      return responseOf(api.POST('/link/password', { body }))
    },
    onSuccess: ({ handover, ...session }) => {
      forgetPerson()
      queryClient.setQueryData(memberQuery.queryKey, session)
      // The link leaves the address and the history of the browser.
      if (handover) window.history.replaceState(null, '', '/portal/link')
      else enter()
    },
  })
  return { offered, use }
}

/** What an invited person opens: the token is in the fragment of the address, which browsers send to no server. */
export function UseLink() {
  useDocumentTitle('Welcome · svc portal')
  const router = useRouter()
  const enter = () => router.history.replace('/portal/')
  const [code, setCode] = useState('')
  const { offered, use } = useOffer(code, enter)
  if (use.data?.handover) return <HandoverSheet sheet={use.data.handover} onDone={enter} />
  const isFirstStep = requiresCode(use.error)
  const ended = offered.error ? ENDED[asCallFailed(offered.error).code] : undefined
  return (
    <Center mih="100dvh" p="md" component="main">
      <Paper withBorder p="xl" w="100%" maw={460}>
        <Stack>
          <div>
            <Title order={1} size="h2">
              Welcome
            </Title>
            <Text c="dimmed">Choose the password with which you sign in to the portal.</Text>
          </div>
          {ended === undefined ? (
            <Loaded query={offered}>
              {(offer) => (
                <>
                  <OfferFacts offer={offer} />
                  {offer.handsOver && <CredentialsNote />}
                  {(isFirstStep || code !== '') && (
                    <CodeInput
                      autoFocus
                      value={code}
                      onChange={({ currentTarget }) => setCode(currentTarget.value)}
                    />
                  )}
                  <ChoosePassword
                    name={offer.name}
                    send="Save and sign in"
                    busy={use.isPending}
                    failed={isFirstStep ? null : use.error}
                    choose={use.mutate}
                  />
                </>
              )}
            </Loaded>
          ) : (
            <Ended title={asCallFailed(offered.error).message} advice={ended} />
          )}
        </Stack>
      </Paper>
    </Center>
  )
}

function OfferFacts({
  offer: { name, role, invitedBy, expiresOn },
}: {
  readonly offer: Schemas['OfferedMembership']
}) {
  return (
    <Facts
      cols={2}
      facts={[
        { label: 'Your name here', value: name },
        { label: 'Role', value: sentenceCase(role) },
        { label: 'Invited by', value: invitedBy },
        { label: 'Link works until', value: <Instant at={expiresOn} /> },
      ]}
    />
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

function CredentialsNote() {
  return (
    <Alert color="orange" icon={<WarningIcon />} title="Credentials come with it">
      The next page shows the credentials of your programs, this one time. Have a place ready where you keep
      secrets.
    </Alert>
  )
}
