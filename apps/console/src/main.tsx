import '@mantine/core/styles.css'
import '@mantine/notifications/styles.css'
import './styles.css'
import { RouterProvider } from '@tanstack/react-router'
import { router } from './router.tsx'
import { start } from './start.tsx'

start(<RouterProvider router={router} />)
