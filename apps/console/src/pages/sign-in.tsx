import {
  Alert,
  Button,
  Center,
  Divider,
  Paper,
  PasswordInput,
  Stack,
  Text,
  TextInput,
  Title,
} from '@mantine/core'
import { useForm } from '@mantine/form'
import { useDocumentTitle } from '@mantine/hooks'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useRouter, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { api, responseOf, type Schemas } from '../api.ts'
import type { Search } from '../list-search.ts'
import { FailureAlert } from '../parts/failure-alert.tsx'
import { needed } from '../parts/form-dialog.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { SingleSignOn } from '../parts/single-sign-on.tsx'
import { signInWithPasskey } from '../passkey.ts'
import { placeAfter } from '../place-after.ts'
import { aboutQuery, sessionQuery } from '../session.ts'

export function SignIn() {
  useDocumentTitle('Sign in · svc console')
  const { back } = useSearch({ strict: false }) as Search
  const about = useQuery(aboutQuery)
  const client = useQueryClient()
  const router = useRouter()
  const [failed, setFailed] = useState<unknown>()
  const [busy, setBusy] = useState(false)
  const enter = async (call: Promise<Schemas['Session']>) => {
    setBusy(true)
    setFailed(undefined)
    try {
      client.setQueryData(sessionQuery.queryKey, await call)
      router.history.push(`/console${placeAfter(back)}`)
    } catch (error) {
      setFailed(error)
      setBusy(false)
    }
  }
  return (
    <Center mih="100dvh" p="md" component="main">
      <Paper withBorder p="xl" w="100%" maw={420}>
        <Stack>
          <div>
            <Title order={1} size="h2">
              svc console
            </Title>
            <Text c="dimmed">
              {back ? 'Sign in to go on where you were.' : 'For those who run the service.'}
            </Text>
          </div>
          {failed !== undefined && <FailureAlert failed={failed} />}
          <Loaded query={about}>
            {(known) => <Ways about={known} back={back} busy={busy} enter={(call) => void enter(call)} />}
          </Loaded>
        </Stack>
      </Paper>
    </Center>
  )
}

interface WaysProps {
  readonly about: Schemas['About']
  readonly back: string | undefined
  readonly busy: boolean
  readonly enter: (call: Promise<Schemas['Session']>) => void
}

/** The ways to sign in that this service offers. */
function Ways({ about: { sandboxSignIn, passkeys, passwords, singleSignOn }, back, busy, enter }: WaysProps) {
  return (
    <>
      {sandboxSignIn && (
        <SandboxEntry busy={busy} enter={() => enter(responseOf(api.POST('/session/sandbox')))} />
      )}
      {singleSignOn !== undefined && <SingleSignOn host={singleSignOn} back={back} />}
      {passkeys && (
        <Button variant="default" loading={busy} onClick={() => enter(signInWithPasskey())}>
          Sign in with a passkey
        </Button>
      )}
      {passwords && (passkeys || singleSignOn !== undefined) && <Divider label="or with a password" />}
      {passwords && (
        <PasswordForm busy={busy} enter={(body) => enter(responseOf(api.POST('/session', { body })))} />
      )}
    </>
  )
}

function SandboxEntry({ busy, enter }: { readonly busy: boolean; readonly enter: () => void }) {
  return (
    <>
      <Alert color="brand" title="Sandbox">
        Nothing here is real money, so one click is enough on this machine.
      </Alert>
      <Button size="md" onClick={enter} loading={busy} data-autofocus>
        Enter the sandbox
      </Button>
      <Divider label="or as an operator" />
    </>
  )
}

interface PasswordFormProps {
  readonly busy: boolean
  readonly enter: (body: { name: string; password: string }) => void
}

function PasswordForm({ busy, enter }: PasswordFormProps) {
  const form = useForm({
    initialValues: { name: '', password: '' },
    validate: { name: needed, password: (value) => (value === '' ? 'Needed' : null) },
  })
  return (
    <form onSubmit={form.onSubmit(enter)} noValidate>
      <Stack gap="sm">
        <TextInput
          label="Name"
          autoComplete="username"
          autoCapitalize="none"
          {...form.getInputProps('name')}
        />
        <PasswordInput label="Password" autoComplete="current-password" {...form.getInputProps('password')} />
        <Button type="submit" variant="default" loading={busy}>
          Sign in
        </Button>
        <Text size="xs" c="dimmed">
          No account yet? An administrator can invite you. The first one, on the service’s machine:{' '}
          <code>svc admin operator create</code>
        </Text>
      </Stack>
    </form>
  )
}
